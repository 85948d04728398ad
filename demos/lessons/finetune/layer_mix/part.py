"""Mix the layers: which layers of a frozen BERT find names, by choices by hand and by shares that are learned."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.model.once_cache import OnceCache
from demos.lessons.finetune.layer_mix.figure import shares_figure
from demos.lessons.finetune.layer_mix.program import mix_code
from demos.lessons.finetune.layer_mix.text import after_html, before_html, progress_html, scores_html, steps_html
from demos.page.folds import folds
from demos.page.lesson import Page, Part, by_component
from demos.page.progress import HEAVY, relayed
from demos.page.services import Sentence, Services
from demos.training.layer_mix import Comparison, Reading, Step, compare, names_dataset

KEPT = 8  # models whose comparison is kept, a few kB each
Comparisons = OnceCache[Reading | Step, Comparison]


def build(page: Page) -> None:
    """The shares beside the button, the scores below."""
    parts: dict[str, Any] = {}
    with gr.Row():
        with gr.Column(scale=7, min_width=330, elem_classes="picture"):
            parts["shares"] = gr.Plot(label="Share of each layer in the mix", show_label=False, elem_id="mix-shares")
        with gr.Column(scale=4, min_width=300):
            start = gr.Button("Train", variant="primary", elem_id="mix-start")
            page.show_look()
            parts["said"] = gr.HTML("", elem_id="mix-said", elem_classes="said")
    parts["scores"] = gr.HTML("", elem_id="mix-scores")
    parts["numbers"], parts["program"] = folds(__file__, "Trains the mix and prints its shares and F1")
    comparisons: Comparisons = OnceCache(KEPT)
    page.draw(by_component(parts, partial(shown, page.services)), [], list(parts.values()))
    page.on(
        [start.click],
        by_component(parts, partial(trained, page.services, comparisons)),
        [page.model],
        list(parts.values()),
        trigger_mode="once",
        **{**HEAVY, "show_progress": "hidden"},
    )


def shown(services: Services, sentence: Sentence) -> dict[str, Any]:
    """Before a training: equal shares, and the published scores."""
    spec = services.loaded(sentence.model).spec
    states = spec.num_layers + 1
    return {
        "shares": shares_figure([1 / states] * states),
        "said": before_html(names_dataset(), states),
        "scores": scores_html(None),
        "numbers": "",
        "program": mix_code(spec),
    }


def trained(services: Services, comparisons: Comparisons, model: str) -> Iterator[dict[str, Any]]:
    """The shares as they are learned, then all scores; once for all who ask with this model."""
    loaded = services.loaded(model)
    dataset = names_dataset()
    steps = comparisons.steps(
        (loaded.spec.key, loaded.spec.revision),
        partial(compare, loaded, dataset),
        Reading(0, len(dataset.train) + len(dataset.test)),
    )
    found = yield from relayed(steps, changes)
    yield {
        "shares": shares_figure(found.steps[-1].shares),
        "said": after_html(found),
        "scores": scores_html(found),
        "numbers": steps_html(found),
    }


def changes(event: Reading | Step) -> dict[str, Any]:
    """What an event of the training changes on the page."""
    moved = {"shares": shares_figure(event.shares)} if isinstance(event, Step) else {}
    return {"said": progress_html(event), **moved}


PART = Part(
    tab="Mix the layers",
    look=(
        "BERT is frozen; a linear classifier finds names in its states. Train it and watch which layers get a large "
        "share, then compare the learned mix with the choices by hand."
    ),
    build=build,
    reads_sentence=False,
    order=8,
)

"""Mix the layers of a frozen BERT to find names, by fixed choices and by learned shares."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import gradio as gr

from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError
from demos.lessons.finetune.layer_mix.figure import mix_code, shares_figure
from demos.lessons.finetune.layer_mix.text import (
    NAMES,
    after_html,
    before_html,
    bilstm_html,
    progress_html,
    scores_html,
    steps_html,
)
from demos.page.progress import HEAVY, EventOptions, relayed
from demos.page.services import Services
from demos.page.view import Layout, On, Shown, View, drawn, menu
from demos.training.bilstm_tagger import Epoch, Tagged, tag_names
from demos.training.layer_mix import FIXED, Comparison, Reading, Step, compare, names_dataset
from demos.training.service.background import Changes

MAX_CACHED = 8  # models whose results are kept, a few kB each
ONE_AT_A_TIME: EventOptions = {"concurrency_id": "bilstm", "concurrency_limit": 1}  # after a wait it is often done


class TrainedResults:
    """The results so far, by model: the mix beside the fixed choices, and the BiLSTM of each choice."""

    def __init__(self) -> None:
        self.comparisons: OnceCache[Reading | Step, Comparison] = OnceCache(MAX_CACHED)
        self.taggers: OnceCache[Reading | Epoch, Tagged] = OnceCache(MAX_CACHED * len(FIXED))

    def scores(self, key: tuple[str, str]) -> str:
        """The table of all that is known of this model."""
        taggers = {name: self.taggers.known((*key, name)) for name in FIXED}
        return scores_html(self.comparisons.known(key), {name: tagger for name, tagger in taggers.items() if tagger})


class LayerMix(View):
    tab, order, reads_sentence = "Mix the layers", 8, False
    look = (
        "BERT is frozen; a linear classifier finds names in its states. Train it and watch which layers get a large "
        "share, then compare the learned mix with the fixed choices."
    )

    @dataclass(frozen=True)
    class Choices:
        mix_layers: str = menu(
            [(NAMES[name][0], name) for name in FIXED],
            FIXED[-1],
            "Vectors for a BiLSTM",
            scale=4,
            min_width=330,
            elem_id="mix-layers",
        )

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=7, min_width=330, elem_classes="picture"):
                at.plot("shares", "Share of each layer in the mix", elem_id="mix-shares")
            with gr.Column(scale=4, min_width=300):
                start = gr.Button("Train", variant="primary", elem_id="mix-start")
                at.look()
                at["said"] = gr.HTML("", elem_id="mix-said", elem_classes="said")
        with gr.Row(elem_id="mix-bilstm"):
            layers = at.control("mix_layers")
            learn = gr.Button("Train a BiLSTM", scale=2, min_width=160, elem_id="mix-learn")
            with gr.Column(scale=6, min_width=320):
                at["learned"] = gr.HTML("", elem_id="mix-learned", elem_classes="said")
        at["scores"] = gr.HTML("", elem_id="mix-scores")
        at.folds("Trains the mix, then a BiLSTM, and prints their F1")
        hidden: EventOptions = {"trigger_mode": "once", "show_progress": "hidden"}
        page, results = at.page, TrainedResults()
        train, tag = (partial(made, page.services, results) for made in (trained, tagged))
        page.on([start.click], train, [page.model], at, **HEAVY | hidden)
        filled = {name: at[name] for name in ("learned", "scores")}
        page.on([learn.click], tag, [page.model, layers], filled, **ONE_AT_A_TIME | hidden)

    @drawn(by=())
    def draw(self, on: On, c: Choices) -> Shown:
        """Before a training: equal shares, and the published scores."""
        spec = on.loaded.spec
        states = spec.num_layers + 1
        return {
            "shares": shares_figure([1 / states] * states),
            "said": before_html(names_dataset(), states),
            "learned": "",
            "scores": scores_html(None, {}),
            "numbers": "",
            "program": lambda: mix_code(spec),
        }


def trained(services: Services, results: TrainedResults, model: str) -> Iterator[Changes]:
    """Yield the shares as they are learned, then all scores; computed once for all readers of this model."""
    loaded = services.loaded(model)
    dataset, key = names_dataset(), (loaded.spec.key, loaded.spec.revision)
    steps = results.comparisons.steps(
        key, partial(compare, loaded, dataset), Reading(0, len(dataset.train) + len(dataset.test))
    )
    result = yield from relayed(steps, changes)
    yield {
        "shares": shares_figure(result.steps[-1].shares),
        "said": after_html(result),
        "scores": results.scores(key),
        "numbers": steps_html(result),
    }


def tagged(services: Services, results: TrainedResults, model: str, choice: str) -> Iterator[Changes]:
    """Yield the progress of a choice's BiLSTM, then its F1 in the table; computed once for all readers."""
    if choice not in FIXED:
        raise UserError(f"The layers must be one of: {', '.join(FIXED)}.")
    loaded = services.loaded(model)
    dataset, key = names_dataset(), (loaded.spec.key, loaded.spec.revision)
    steps = results.taggers.steps(
        (*key, choice), partial(tag_names, loaded, dataset, choice), Reading(0, len(dataset.train) + len(dataset.test))
    )
    result = yield from relayed(steps, lambda event: {"learned": progress_html(event)})
    yield {"learned": bilstm_html(choice, result, results.comparisons.known(key)), "scores": results.scores(key)}


def changes(event: Reading | Step) -> Changes:
    """The changes to the page by an event of the training."""
    moved = {"shares": shares_figure(event.shares)} if isinstance(event, Step) else {}
    return {"said": progress_html(event), **moved}

"""Tensors, step by step: from rows of text to a classifier's score, each step with its shape and its line of code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from demos.bert.embeddings.first_reviews import TEXTS
from demos.bert.embeddings.tensors import Tensors, tensor_steps
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError
from demos.lessons.embeddings.tensors.figure import (
    TEXT,
    Followed,
    StepResults,
    first_reviews_html,
    shape_of,
    step_html,
    texts_html,
)
from demos.lessons.embeddings.tensors.program import FIVE, STEPS, tensors_code
from demos.page.folds import folds
from demos.page.layer_head_choices import clamp, slider
from demos.page.lesson import IN_BROWSER, Page, Part, by_component
from demos.page.progress import HEAVY, relayed
from demos.page.services import Services
from demos.training.data.labelled_sentences import FILE, FILMS, MAX_ROWS, REVIEWS, SST2, read_labelled, split_rows
from demos.training.frozen_classifier import Fits, fit_guess, fit_plain
from demos.widgets.file_picker.file_picker import file_picker
from demos.widgets.number_strips.number_strips import cells_picture

SOURCES = [
    ("our own film reviews", FILMS),
    ("our reviews of many things", REVIEWS),
    (f"SST-2, {MAX_ROWS:,} rows", SST2),
    ("the first 5 of SST-2", FIVE),
    ("your own file", FILE),
]
NAMES = (
    "texts", "ids", "padded matrix", "mask", "last hidden state", "slice of [CLS]", "feature table",
    "training and test", "logistic regression", "cross-validation", "score",
)  # fmt: skip
SEED = "0"
KEPT_BYTES = 64 * 2**20
AWAITED = f"Choose a file with a text column and a label column; up to {MAX_ROWS:,} rows are used."
FIRST = STEPS[0]
TURNED = "(step) => {{ const all = {}; return all.at(Math.min(all.length - 1, Math.max(0, all.indexOf(step) + {}))); }}"


class SharedResults:
    """The data sets' tensors and classifiers, computed once for all readers."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._tensors: OnceCache[Encoded, Tensors] = OnceCache(
            KEPT_BYTES, lambda cached: cached[0].nbytes, services.memory, "tensors"
        )
        self._fits = Fits()

    def show(
        self, text: str, pair: str, model: str, source: str, file: str | None, step: str, row: float
    ) -> Iterator[dict[str, Any]]:
        """Yield the changes as they come: the progress of the model, then the step."""
        always: dict[str, Any] = {"file": gr.update(visible=source == FILE)}
        waiting = AWAITED if source == FILE and not file else "Downloading SST-2 …" if source == SST2 else ""
        yield {**always, "status": TEXT.awaited(waiting) if waiting else ""}
        if source == FILE and not file:
            return
        if source == FIVE:
            yield from self._first_reviews(model, step, clamp(row, len(TEXTS)))
            return
        try:
            data, loaded = read_labelled(source, file), self.services.loaded(model)
            split, row = split_rows(data, SEED), clamp(row, len(data.texts))
            early = {"picture": texts_html(Followed(data, source, split, row))} if step == FIRST else {}
            key = (loaded.spec.key, data.key)
            steps = self._tensors.steps(
                key, lambda: tensor_steps(self.services.vectors, loaded, data.texts), Encoded(0, len(data.texts))
            )
            tensors = yield from relayed(steps, lambda done: {**always, **early, "status": TEXT.encoding(done)})
        except UserError:
            yield {"status": ""}
            raise
        fit = self._fits.get(key, lambda: fit_plain(tensors.features, data, split))
        guess = self._fits.get((data.key, "guess"), lambda: fit_guess(data, split))
        results = StepResults(data, source, split, row, tensors, fit, guess)
        shapes = [(name, shape_of(results, name)) for name in STEPS]
        yield {
            **always,
            "status": TEXT.data(data),
            "picture": step_html(results, step if step in STEPS else FIRST),
            "row": slider(row, len(data.texts), visible=True),
            "numbers": TEXT.numbers(shapes, data.name),
            "code": tensors_code(loaded.spec, source, len(fit.folds), len(split.test)),
        }

    def _first_reviews(self, model: str, step: str, row: int) -> Iterator[dict[str, Any]]:
        """SST-2's first five rows, up to the table of features."""
        loaded = self.services.loaded(model)
        steps = self._tensors.steps(
            (loaded.spec.key, FIVE), lambda: tensor_steps(self.services.vectors, loaded, TEXTS), Encoded(0, len(TEXTS))
        )
        tensors = yield from relayed(steps, lambda done: {"status": TEXT.encoding(done)})
        yield {
            "status": "",
            "picture": first_reviews_html(tensors, loaded.spec.title, step, row),
            "row": slider(row, len(TEXTS)),
            "numbers": "",
            "code": tensors_code(loaded.spec, FIVE, 0, 0),
        }


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    parts: dict[str, gr.Component] = {}
    with gr.Row():
        with gr.Column(scale=4, min_width=340):
            parts["picture"] = cells_picture("embeddings-tensors-picture", "", elem_classes="picture")
        with gr.Column(scale=1, min_width=240):
            with gr.Row(elem_classes="tensor-turn"):
                back = gr.Button("Back", min_width=90)
                forth = gr.Button("Next", min_width=90, elem_id="embeddings-tensors-next")
            named = [
                (f"{number} {name}", step) for number, (name, step) in enumerate(zip(NAMES, STEPS, strict=True), 1)
            ]
            step = gr.Radio(
                named, value=FIRST, label="Step", elem_id="embeddings-tensors-step", elem_classes="tensor-steps"
            )
            # Not seen before the data are there: only then is it known where it ends.
            parts["row"] = gr.Slider(0, MAX_ROWS - 1, 0, step=1, label="Row (from 0)", visible="hidden")
            source = gr.Radio(SOURCES, value=FILMS, label="Texts and labels")
            parts["file"] = file_picker("CSV, Excel or JSON", height=110, visible=False)
            parts["status"] = gr.HTML("", elem_classes="said")
    parts["numbers"], parts["code"] = folds(__file__, "Prints every shape, and the scores")
    for button, move in ((back, -1), (forth, 1)):
        turned = TURNED.format(list(STEPS), move)
        button.click(None, [step], [step], js=turned, **IN_BROWSER)
    shared_results = SharedResults(page.services)
    inputs = [*page.sentence, source, parts["file"], step, parts["row"]]
    moved = [page.settled.change, step.change, source.input, parts["file"].change, parts["row"].input]
    page.on(
        moved, by_component(parts, shared_results.show), inputs, list(parts.values()),
        **{**HEAVY, "trigger_mode": "always_last", "show_progress": "hidden"}, unread=(page.text, page.text_pair),
    )  # fmt: skip
    page.keep(tensors_step=step, tensors_row=parts["row"], tensors_data=source)


PART = Part(
    tab="Tensors",
    look=(
        "A whole data set goes through BERT as tensors. Follow it from rows of text to the score of a classifier: each "
        "step shows the shape of its result and the lines of code that compute it."
    ),
    build=build,
    reads_sentence=False,
    order=8,
)

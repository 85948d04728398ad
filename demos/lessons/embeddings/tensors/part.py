"""Tensors, step by step: from rows of text to a classifier's score, each step with its shape and its line of code."""

from collections.abc import Generator
from dataclasses import dataclass

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
from demos.page.layer_head_choices import clamp
from demos.page.lesson import IN_BROWSER
from demos.page.progress import relayed
from demos.page.services import Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, options, slider, unlinked
from demos.training.data.labelled_sentences import FILE, FILMS, MAX_ROWS, REVIEWS, SST2, read_labelled, split_rows
from demos.training.frozen_classifier import fit_guess, fit_plain, kept_fits
from demos.widgets.file_picker.file_picker import file_picker, shown_for
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
        self.tensors: OnceCache[Encoded, Tensors] = OnceCache(
            KEPT_BYTES, lambda cached: cached[0].nbytes, services.memory, "tensors"
        )
        self.fits = kept_fits()


class TensorSteps(View):
    tab, order, reads_sentence = "Tensors", 8, False
    look = (
        "A whole data set goes through BERT as tensors. Follow it from rows of text to the score of a classifier: each "
        "step shows the shape of its result and the lines of code that compute it."
    )

    @dataclass(frozen=True)
    class Choices:
        tensors_step: str = options(
            [(f"{number} {name}", step) for number, (name, step) in enumerate(zip(NAMES, STEPS, strict=True), 1)],
            FIRST,
            "Step",
            by_script=True,
            elem_id="embeddings-tensors-step",
            elem_classes="tensor-steps",
        )
        # Not seen before the data are there: only then is it known where it ends.
        tensors_row: int = slider(0, MAX_ROWS - 1, 0, "Row (from 0)", visible="hidden")
        tensors_data: str = options(SOURCES, FILMS, "Texts and labels")
        file: str | None = unlinked(None, redraws=True)

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=4, min_width=340):
                at["picture"] = cells_picture("embeddings-tensors-picture", "", elem_classes="picture")
            with gr.Column(scale=1, min_width=240):
                with gr.Row(elem_classes="tensor-turn"):
                    back = gr.Button("Back", min_width=90)
                    forth = gr.Button("Next", min_width=90, elem_id="embeddings-tensors-next")
                step = at.control("tensors_step")
                at.control("tensors_row")
                data = at.control("tensors_data")
                file = at.hold("file", file_picker("CSV, Excel or JSON", height=110, visible=False))
                at["status"] = gr.HTML("", elem_classes="said")
        at.folds("Prints every shape, and the scores")
        shown_for(data, file, FILE)
        for button, move in ((back, -1), (forth, 1)):
            button.click(None, [step], [step], js=TURNED.format(list(STEPS), move), **IN_BROWSER)

    @drawn(limits=("tensors_row",))
    def draw(self, on: On, c: Choices) -> Generator[Shown]:
        """Yield the changes as they come: the progress of the model, then the step."""
        awaits_file = c.tensors_data == FILE and not c.file
        waiting = AWAITED if awaits_file else "Downloading SST-2 …" if c.tensors_data == SST2 else ""
        yield {"status": TEXT.awaited(waiting) if waiting else ""}
        if not awaits_file:
            yield from first_reviews(on, c) if c.tensors_data == FIVE else all_rows(on, c)


def all_rows(on: On, c: TensorSteps.Choices) -> Generator[Shown]:
    """A data set, from its rows of text to the score. Raises UserError for a file that can't be read."""
    services, known, source = on.services, on.services.shared(SharedResults), c.tensors_data
    try:
        data, loaded = read_labelled(source, c.file), on.loaded
        split, row = split_rows(data, SEED), clamp(c.tensors_row, len(data.texts))
        early = {"picture": texts_html(Followed(data, source, split, row))} if c.tensors_step == FIRST else {}
        key = (loaded.spec.key, data.key)
        steps = known.tensors.steps(
            key, lambda: tensor_steps(services.vectors, loaded, data.texts), Encoded(0, len(data.texts))
        )
        tensors = yield from relayed(steps, lambda done: {**early, "status": TEXT.encoding(done)})
    except UserError:
        yield {"status": ""}
        raise
    fit = known.fits.make(key, lambda take: fit_plain(tensors.features, data, split))
    guess = known.fits.make((data.key, "guess"), lambda take: fit_guess(data, split))
    results = StepResults(data, source, split, row, tensors, fit, guess)
    yield {
        "status": TEXT.data(data),
        "picture": step_html(results, c.tensors_step),
        "tensors_row": limit(maximum=len(data.texts) - 1, visible=True),
        "numbers": lambda: TEXT.numbers([(name, shape_of(results, name)) for name in STEPS], data.name),
        "program": lambda: tensors_code(loaded.spec, source, len(fit.folds), len(split.test)),
    }


def first_reviews(on: On, c: TensorSteps.Choices) -> Generator[Shown]:
    """SST-2's first five rows, up to the table of features."""
    loaded, known = on.loaded, on.services.shared(SharedResults)
    steps = known.tensors.steps(
        (loaded.spec.key, FIVE), lambda: tensor_steps(on.services.vectors, loaded, TEXTS), Encoded(0, len(TEXTS))
    )
    tensors = yield from relayed(steps, lambda done: {"status": TEXT.encoding(done)})
    row = clamp(c.tensors_row, len(TEXTS))
    yield {
        "status": "",
        "picture": first_reviews_html(tensors, loaded.spec.title, c.tensors_step, row),
        "tensors_row": limit(maximum=len(TEXTS) - 1, visible=True),
        "numbers": "",
        "program": lambda: tensors_code(loaded.spec, FIVE, 0, 0),
    }

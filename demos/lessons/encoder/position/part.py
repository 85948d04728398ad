"""Position: the model's learned table beside the sinusoids, and four requirements for a position encoding."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings.similarity import cosine_matrix
from demos.bert.encoder.input import embedding_tables
from demos.bert.encoder.position import halves, plain_fraction, plain_index, plain_number, sinusoidal, wishes
from demos.bert.encoder.position_added import added_or_concatenated, mean_overlap, overlap
from demos.bert.model.layer_weights import layer_weights
from demos.figures.numbers import scientific
from demos.lessons.encoder.position.figure import added_board, similarity_figure, table_figure, window, wishes_figure
from demos.lessons.encoder.position.text import TEXT, is_small, numbers_table, plain_verdicts, verdicts
from demos.lessons.encoder.program_input import position_code
from demos.page.folds import all_controls, folds
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.matrix_picture.matrix_picture import matrix_picture
from demos.widgets.token_picker.token_picker import pick

MORE = 16  # positions of the longer text, for the plain numbers
LENGTH, WIDTH, BASE = (2, 128, 64), (2, 512, 128), (10, 10_000, 10_000)  # smallest, largest, first shown
ROBOT, ROBOT_SETTINGS = ("I", "am", "a", "robot"), (4, 4, 100)
PAPER_SETTINGS = (64, 512, 10_000)
TURNS, HALVES = "turns", "halves"
ORDERS = [("alternating (sin, cos, sin, …)", TURNS), ("two halves (sines, then cosines)", HALVES)]


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    parts: dict[str, gr.Component] = {}
    with gr.Row(elem_classes=["encoder-steps", "encoder-pair"]):
        for name in ("sinusoids", "learned"):
            with gr.Column(elem_classes="encoder-half", min_width=320):
                with gr.Column(elem_classes=["attention-heatmap", "picture"], elem_id=f"encoder-position-{name}"):
                    parts[name] = gr.Plot(label=f"Position vectors: {name}", show_label=False)
                parts[f"{name}_said"] = gr.HTML("", elem_classes="encoder-told")
                if name == "sinusoids":
                    parts["small_table"] = gr.HTML("", elem_id="encoder-position-small")
    with gr.Row(elem_classes="encoder-controls"):
        length = _slider("Positions shown", LENGTH, 1, "length")
        views = [("the tables", "table"), ("similarity of positions", "similarity")]
        view = gr.Radio(views, value="table", label="Show", elem_id="encoder-position-view", min_width=380)
        with gr.Column(elem_classes="encoder-presets", min_width=270):
            robot = gr.Button("“I am a robot”: d = 4, n = 100", size="sm", elem_id="encoder-position-robot")
            paper = gr.Button("The paper's: d = 512, n = 10,000", size="sm", elem_id="encoder-position-paper")
    with all_controls(page, __file__), gr.Row(elem_classes="encoder-controls"):
        width = _slider("d of the sinusoids", WIDTH, 2, "width")
        base = _slider("n of the sinusoids", BASE, 10, "base")
        columns = gr.Radio(ORDERS, value=TURNS, label="Columns", elem_id="encoder-position-columns", min_width=380)
    gr.HTML("<h3>Four requirements for a position encoding</h3>", elem_classes="encoder-told")
    with gr.Column(elem_classes="encoder-wishes", elem_id="encoder-position-wishes"):
        parts["curves"] = gr.Plot(label="The requirements, tested", show_label=False)
    parts["wishes"] = gr.HTML("", elem_id="encoder-position-wished")
    parts["added"] = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-position-added")
    parts["added_picture"] = matrix_picture("encoder-position-sum")
    parts["table"], parts["program"] = folds(__file__, "Prints both tables' numbers")

    page.keep(length=length, d=width, n=base, codes=view, columns=columns)
    token = page.choices["token"]
    of_sentence = {name: parts.pop(name) for name in ("added", "added_picture")}
    replace(page, reads_sentence=False).draw(  # the model and the token's place decide, whatever the sentence is
        by_component(parts, partial(tables, page.services)),
        [token, length, width, base, view, columns],
        list(parts.values()),
        triggers=[
            length.change,
            width.change,
            base.change,
            view.input,
            columns.input,
        ],  # a button moves the sliders too
        show_progress="hidden",
    )
    show = by_component(of_sentence, partial(added, page.services))
    page.draw(show, [token], list(of_sentence.values()), show_progress="hidden")
    for button, settings in ((robot, ROBOT_SETTINGS), (paper, PAPER_SETTINGS)):
        script = f"() => {list(settings)}"
        button.click(None, None, [length, width, base], js=script, api_visibility="private", show_progress="hidden")


def tables(
    services: Services,
    sentence: Sentence,
    token: float,
    length: float,
    width: float,
    base: float,
    view: str,
    columns: str = TURNS,
) -> dict[str, Any]:
    """Both tables and the requirements, by component. Sizes beyond the sliders become their ends."""
    loaded = services.loaded(sentence.model)
    at = pick(services.run(sentence).encoding, token)
    m, d, n = _inside(length, LENGTH), _inside(width, WIDTH) // 2 * 2, _inside(base, BASE)
    ordered = halves if columns == HALVES else np.asarray
    table, rows = ordered(sinusoidal(m, d, n)), embedding_tables(loaded.model).positions
    learned = rows[:m]
    mine, theirs = wishes(table), wishes(learned)
    longer = ordered(sinusoidal(len(rows) * 5 // 4, d, n))  # the learned rows end within
    again = float(np.abs(longer[:m] - table).max())
    reread = float(np.abs(embedding_tables(loaded.model).positions[:m] - learned).max())
    names = ROBOT if (m, d, n) == ROBOT_SETTINGS else ()
    framed = at if at < m and not names else None
    if view == "similarity":
        left, right = (similarity_figure(cosine_matrix(code), marked=at) for code in (table, learned))
    else:
        left = table_figure(table, names=names, marked=framed, limit=1.0)
        right = table_figure(learned, marked=at)
    return {
        "sinusoids_said": TEXT.sinusoids(m, d, n, framed, columns == HALVES),
        "sinusoids": left,
        "small_table": numbers_table(table, "The sinusoids, to four digits", names) if is_small(table) else "",
        "learned_said": TEXT.learned(*rows.shape, len(learned), framed),
        "learned": right,
        "curves": wishes_figure(mine, theirs, (np.linalg.norm(longer, axis=1), np.linalg.norm(rows, axis=1))),
        "wishes": TEXT.wishes(
            [
                ("sinusoids", verdicts(mine, again, None)),
                ("learned by this model", verdicts(theirs, reread, len(rows))),
                ("index p", plain_verdicts(plain_number(plain_index, m, m + MORE), m + MORE)),
                ("p / (length − 1)", plain_verdicts(plain_number(plain_fraction, m, m + MORE), m + MORE)),
            ],
            m,
        ),
        "table": lambda: (
            numbers_table(table, f"The sinusoids for d = {d}, n = {n:,}", names)
            + numbers_table(learned, "The model's learned positions")
        ),
        "program": lambda: position_code(loaded.spec, m, d, n, halves=columns == HALVES),
    }


def added(services: Services, sentence: Sentence, token: float) -> dict[str, Any]:
    """The sentence's word and position vectors added, and concatenated."""
    loaded, encoding = services.loaded(sentence.model), services.run(sentence).encoding
    at = pick(encoding, token)
    rows, weight = embedding_tables(loaded.model).positions, first_query(loaded.model)
    word = embedding_tables(loaded.model).words[list(encoding.input_ids)]
    both = added_or_concatenated(word, rows[: len(encoding)], weight)
    return {
        "added": TEXT.added(
            len(encoding),
            window(len(encoding), at),
            *weight.shape,
            scientific(both.difference),
            overlap(word, rows),
            mean_overlap(weight.shape[0]),
        ),
        "added_picture": added_board(both, encoding.tokens, at),
    }


def first_query(model: Any) -> np.ndarray:
    """W_Q of head 1 in layer 1, <float32>[d, d_k]; torch keeps it transposed, all heads in one."""
    weights = layer_weights(model, 0)
    return weights.query.weight[: len(weights.query.weight) // weights.num_heads].T


def _inside(value: float, ends: tuple[int, int, int]) -> int:
    return min(max(int(value or ends[2]), ends[0]), ends[1])


def _slider(label: str, ends: tuple[int, int, int], step: int, name: str) -> gr.Slider:
    return gr.Slider(*ends, step=step, label=label, elem_id=f"encoder-position-{name}", min_width=190)


PART = Part(
    tab="Position",
    look=(
        "Attention by itself ignores word order, so a vector for the position is added to each word vector. In BERT, "
        "the table of these vectors is learned; in the first Transformer, it is computed from sines and cosines."
    ),
    build=build,
    order=2,
)

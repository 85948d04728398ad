"""Position: the model's learned table beside the sinusoids, and four requirements for a position encoding."""

from dataclasses import dataclass
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings.similarity import cosine, cosine_matrix
from demos.bert.encoder.input import embedding_tables
from demos.bert.encoder.position import halves, plain_fraction, plain_index, plain_number, sinusoidal, wishes
from demos.bert.encoder.position_added import added_or_concatenated, mean_overlap, overlap
from demos.bert.model.encoding import encode
from demos.bert.model.layer_weights import layer_weights
from demos.figures.numbers import scientific
from demos.lessons.encoder.choices import OfToken
from demos.lessons.encoder.position.figure import added_board, similarity_figure, table_figure, window, wishes_figure
from demos.lessons.encoder.position.text import TEXT, is_small, numbers_table, plain_verdicts, verdicts
from demos.lessons.encoder.program_input import position_code
from demos.page.lesson import IN_BROWSER
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, options, slider
from demos.widgets.matrix_picture.matrix_picture import matrix_picture
from demos.widgets.token_picker.token_picker import pick

MORE = 16  # positions of the longer text, for the plain numbers
ROBOT, ROBOT_SETTINGS = ("I", "am", "a", "robot"), (4, 4, 100)
PAPER_SETTINGS = (64, 512, 10_000)
TURNS, HALVES = "turns", "halves"
VIEWS = [("the tables", "table"), ("similarity of positions", "similarity")]
ORDERS = [("alternating (sin, cos, sin, …)", TURNS), ("two halves (sines, then cosines)", HALVES)]
NEAR = 2  # positions
ALIKE = 1e-3  # cosines that differ by less are the same


def _size(name: str, label: str, least: int, most: int, value: int, step: int = 1) -> Any:
    """A slider that the buttons move too."""
    place = f"encoder-position-{name}"
    return slider(least, most, value, label, step=step, by_script=True, elem_id=place, min_width=190)


class Position(View):
    tab, order = "Position", 2
    look = (
        "Attention by itself ignores word order, so a vector for the position is added to each word vector. In BERT, "
        "the table of these vectors is learned; in the first Transformer, it is computed from sines and cosines."
    )

    @dataclass(frozen=True)
    class Choices(OfToken):
        length: int = _size("length", "Positions shown", 2, 128, 64)
        d: int = _size("width", "d of the sinusoids", 2, 512, 128, step=2)
        n: int = _size("base", "n of the sinusoids", 10, 10_000, 10_000, step=10)
        codes: str = options(VIEWS, "table", "Show", elem_id="encoder-position-view", min_width=380)
        columns: str = options(ORDERS, TURNS, "Columns", elem_id="encoder-position-columns", min_width=380)

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes=["encoder-steps", "encoder-pair"]):
            for name in ("sinusoids", "learned"):
                with gr.Column(elem_classes="encoder-half", min_width=320):
                    with gr.Column(elem_classes=["attention-heatmap", "picture"], elem_id=f"encoder-position-{name}"):
                        at.plot(name, f"Position vectors: {name}")
                    at[f"{name}_said"] = gr.HTML("", elem_classes="encoder-told")
                    if name == "sinusoids":
                        at["small_table"] = gr.HTML("", elem_id="encoder-position-small")
        with gr.Row(elem_classes="encoder-controls"):
            length = at.control("length")
            at.control("codes")
            with gr.Column(elem_classes="encoder-presets", min_width=270):
                robot = gr.Button("“I am a robot”: d = 4, n = 100", size="sm", elem_id="encoder-position-robot")
                paper = gr.Button("The paper's: d = 512, n = 10,000", size="sm", elem_id="encoder-position-paper")
        with at.all_controls(), gr.Row(elem_classes="encoder-controls"):
            sizes = [length, at.control("d"), at.control("n")]
            at.control("columns")
        gr.HTML("<h3>Four requirements for a position encoding</h3>", elem_classes="encoder-told")
        with gr.Column(elem_classes="encoder-wishes", elem_id="encoder-position-wishes"):
            at.plot("curves", "The requirements, tested")
        at["wishes"] = gr.HTML("", elem_id="encoder-position-wished")
        at["added"] = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-position-added")
        at["added_picture"] = matrix_picture("encoder-position-sum")
        at.folds("Prints both tables' numbers")
        for button, settings in ((robot, ROBOT_SETTINGS), (paper, PAPER_SETTINGS)):
            button.click(None, None, sizes, js=f"() => {list(settings)}", **IN_BROWSER)

    @drawn(reads_sentence=False)
    def draw(self, on: On, c: Choices) -> Shown:
        """Both tables, which another sentence does not change."""
        rows, table = embedding_tables(on.loaded.model).positions, sinusoids(c, c.length)
        learned = rows[: c.length]
        names = ROBOT if (c.length, c.d, c.n) == ROBOT_SETTINGS else ()
        framed = c.token if c.token < c.length and not names else None
        if c.codes == "similarity":
            left, right = (similarity_figure(cosine_matrix(code), marked=c.token) for code in (table, learned))
        else:
            left = table_figure(table, names=names, marked=framed, limit=1.0)
            right = table_figure(learned, marked=c.token)
        return {
            "sinusoids_said": TEXT.sinusoids(c.length, c.d, c.n, framed, c.columns == HALVES),
            "sinusoids": left,
            "small_table": numbers_table(table, "The sinusoids, to four digits", names) if is_small(table) else "",
            "learned_said": TEXT.learned(*rows.shape, len(learned), framed),
            "learned": right,
            "numbers": lambda: (
                numbers_table(table, f"The sinusoids for d = {c.d}, n = {c.n:,}", names)
                + numbers_table(learned, "The model's learned positions")
            ),
            "program": lambda: position_code(on.loaded.spec, c.length, c.d, c.n, halves=c.columns == HALVES),
        }

    @drawn("curves", "wishes", by=("length", "d", "n", "columns"), reads_sentence=False)
    def draw_requirements(self, on: On, c: Choices) -> Shown:
        """Both tables by the requirements, and two plain numbers."""
        rows, table = embedding_tables(on.loaded.model).positions, sinusoids(c, c.length)
        learned = rows[: c.length]
        mine, theirs = wishes(table), wishes(learned)
        longer = sinusoids(c, len(rows) * 5 // 4)  # the learned rows end within
        again = float(np.abs(longer[: c.length] - table).max())
        reread = float(np.abs(embedding_tables(on.loaded.model).positions[: c.length] - learned).max())
        index, fraction = (plain_number(plain, c.length, c.length + MORE) for plain in (plain_index, plain_fraction))
        return {
            "curves": wishes_figure(mine, theirs, (np.linalg.norm(longer, axis=1), np.linalg.norm(rows, axis=1))),
            "wishes": TEXT.wishes(
                [
                    ("sinusoids", verdicts(mine, again, None)),
                    ("learned by this model", verdicts(theirs, reread, len(rows))),
                    ("index p", plain_verdicts(index, c.length + MORE)),
                    ("p / (length − 1)", plain_verdicts(fraction, c.length + MORE)),
                ],
                c.length,
            ),
        }

    @drawn("added", "added_picture", by=("token",))
    def draw_added(self, on: On, c: Choices) -> Shown:
        """The sentence's word and position vectors added, and concatenated."""
        rows, weight = embedding_tables(on.loaded.model).positions, first_query(on.loaded.model)
        encoding = on.encoding
        word = embedding_tables(on.loaded.model).words[list(encoding.input_ids)]
        both = added_or_concatenated(word, rows[: len(encoding)], weight)
        return {
            "added": TEXT.added(
                len(encoding),
                window(len(encoding), c.token),
                *weight.shape,
                scientific(both.difference),
                overlap(word, rows),
                mean_overlap(weight.shape[0]),
            ),
            "added_picture": added_board(both, encoding.tokens, c.token),
        }


def sinusoids(c: Position.Choices, length: int) -> np.ndarray:
    """The table of sinusoids [length, d], its columns ordered as chosen."""
    table = sinusoidal(length, c.d, c.n)
    return halves(table) if c.columns == HALVES else table


def first_query(model: Any) -> np.ndarray:
    """W_Q of head 1 in layer 1, <float32>[d, d_k]; torch keeps it transposed, all heads in one."""
    weights = layer_weights(model, 0)
    return weights.query.weight[: len(weights.query.weight) // weights.num_heads].T


def answer(services: Services, sentence: Sentence, token: float) -> Answer:
    """The key: near, far, or none if all cosines are equal."""
    loaded = services.loaded(sentence.model)
    encoding = encode(loaded.tokenizer, sentence.text, sentence.text_pair)
    table, at = embedding_tables(loaded.model).positions, pick(encoding, token)
    alike = cosine(table, np.broadcast_to(table[at], table.shape))
    middle = (at + len(table) // 2) % len(table)
    others = np.delete(alike, at)
    alike[at] = -np.inf
    nearest = int(alike.argmax())
    key = "none" if np.ptp(others) < ALIKE else "near" if abs(nearest - at) <= NEAR else "far"
    facts = {"nearest": nearest, "cosine": alike[nearest], "middle": middle, "distant": alike[middle]}
    return Answer(keys=frozenset({key}), facts=facts)

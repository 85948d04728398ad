"""The heatmap, the table, and what is said of a head."""

from html.parser import HTMLParser

import numpy as np

from demos.bert.attention.contributions import Measured
from demos.bert.attention.matrix_labels import Labels
from demos.bert.model.run import Run
from demos.figures.matrix import matrix_figure, matrix_table
from demos.lessons.attention.heads.layout import head_html
from tests.made_up import encoding_of, run_of
from tests.plotly_figure import plotly


def test_the_heatmap_holds_the_weights_under_unique_names() -> None:
    encoding = encoding_of(["[CLS]", "bank", "bank", "<b>&", "[SEP]"], b=4)
    weights = run_of(1, 1, 5).attentions[0, 0]
    tokens = Labels.of_tokens(encoding, 5)
    figure = plotly(matrix_figure(weights, tokens, tokens))
    trace = figure.data[0]
    np.testing.assert_allclose(np.array(trace.z), weights, atol=5e-5)
    assert list(trace.x) == list(trace.y) == ["0 [CLS]", "1 bank", "2 bank", "3 &lt;b&gt;&amp;", "4 [SEP]"]
    assert figure.layout.xaxis.ticktext == ("<i>[CLS]</i>", "bank", "bank", "&lt;b&gt;&amp;", "<i>[SEP]</i>")
    assert figure.layout.yaxis.autorange == "reversed"  # the first query on top, as in the table
    assert [shape.x0 for shape in figure.layout.shapes] == [3.5, -0.5]
    assert trace.zmax >= weights.max() > trace.zmax - 0.01


class Cells(HTMLParser):
    """Collects the text of td and th cells, and every tag."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in {"td", "th"}:
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data.strip()


def test_the_table_has_every_weight_and_each_rows_sum() -> None:
    weights = np.array([[0.25, 0.75], [0.5, 0.4]])
    cells = Cells()
    tokens = Labels.of_tokens(encoding_of(["[CLS]", "</td><img src=x>"]))
    cells.feed(matrix_table(weights, tokens, tokens, "Layer <0>"))
    assert cells.cells[1:4] == ["[CLS]", "</td><img src=x>", "sum"]
    assert cells.cells[4:] == ["[CLS]", "0.250", "0.750", "1.000", "</td><img src=x>", "0.500", "0.400", "0.900"]
    assert "img" not in cells.tags


def test_what_is_said_of_a_head_that_looks_back() -> None:
    weights = np.array([[1, 0, 0, 0], [0.8, 0.2, 0, 0], [0, 0.6, 0.4, 0], [0, 0, 1, 0]])
    run = Run("m", encoding_of(["[CLS]", "a", "b<", "[SEP]"]), np.zeros((3, 4, 4)), np.tile(weights, (2, 5, 1, 1)))
    lengths = np.tile([0.5, 2.0, 2.0, 0.5], (2, 5, 1))  # [CLS] and [SEP] have short vectors
    by_weight, by_norm = Measured(run), Measured(run, lengths)
    said = head_html(by_weight, by_norm, 1, 4)
    assert "<b>Layer 2, head 5.</b>" in said
    assert "0.80 on the previous token, 0.40 on the token itself and 0.00 on the next token" in said
    assert "45% of all attention" in said  # (1 + 0.8) / 4
    assert "the share of [CLS] and [SEP] is 38%." in said  # (1 + 0.4 / 0.8) / 4
    assert "<q>[CLS]</q> (token 0) to <q>[CLS]</q>" in said
    assert "[CLS] and [SEP] receive 45% of the weight, but make up only 38% of the contributions" in said
    assert "Punctuation" not in said
    norms = head_html(by_norm, by_weight, 1, 4)
    assert "that of <q>b&lt;</q> (token 2) to <q>[SEP]</q> (token 3); its norm is 2.00." in norms
    assert "The share of [CLS] and [SEP] in this sum is 38%; their share of the attention weight is 45%." in norms


def test_more_contribution_than_weight_is_no_but() -> None:
    weights = np.full((1, 1, 4, 4), 0.25)
    run = Run("m", encoding_of(["[CLS]", "a", ".", "[SEP]"]), np.zeros((2, 4, 4)), weights)
    said = head_html(Measured(run), Measured(run, np.array([[[1.0, 1.0, 4.0, 2.0]]])), 0, 0)
    assert "[CLS] and [SEP] receive 50% of the weight, but make up only 38% of the contributions" in said
    assert "Punctuation marks receive 25% of the weight, and make up 50% of the contributions" in said

"""Inputs, labels and who gave them: one row a label, hostile words as words, an answer that follows from the rows."""

import html
import re

import numpy as np
import pytest

from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.free_labels import FreeLabels, free_labels
from demos.lessons.pretraining.labels import figure
from demos.lessons.pretraining.labels.figure import counts_html, labels_html, numbers_html
from demos.training.data.tables import Row
from tests.one_line import on_one_line

answer_html = on_one_line(figure.answer_html)

TEXT = "The <b>kettle</b> sang & sang. Nobody heard ${it}! " + "Was anyone at home, or had they all gone out? " * 4


@pytest.fixture(scope="module")
def found(tiny: LoadedModel) -> FreeLabels:
    return free_labels(tiny.tokenizer, TEXT, ("Trains leave at nine.",), np.random.default_rng(3))


@pytest.fixture(scope="module")
def read(tiny: LoadedModel, found: FreeLabels) -> list[str]:
    return tiny.tokenizer.convert_ids_to_tokens(found.corruption.input_ids.tolist())


def cells(table: str, kind: str) -> list[str]:
    return [html.unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(rf'<td class="{kind}">(.*?)</td>', table)]


def test_one_row_a_label(found: FreeLabels, read: list[str]) -> None:
    table = labels_html(found, read, Row(2, "<i>Lovely</i> soup.", "positive"))
    words = [found.encoding.tokens[place] for place in found.corruption.chosen]
    labels = cells(table, "label")
    assert len(words) > 6
    assert labels[:5] == [word for word in words if word in labels[:5]][:5]  # in the order of the text
    assert labels[5:] == ["IsNext" if found.is_next else "NotNext", "positive", "?"]
    assert len(cells(table, "free")) == 6
    assert len(cells(table, "asked")) == 2
    assert f"and {len(words) - 5} more masked words" in table
    places = re.findall(r'<span class="(\w+) labels-place">(.) (.*?)</span>', table)
    assert len(places) == 5
    assert {"masked": "■", "random": "◆", "kept": "●"}.items() >= {(kind, mark) for kind, mark, _ in places}
    for raw in ("<b>kettle", "<i>"):
        assert raw not in table
    assert numbers_html(found, read).count("<tr>") == len(words) + 1


def test_counts_and_answers(found: FreeLabels) -> None:
    chosen = len(found.corruption.chosen)
    assert f"<b>{chosen + 1}</b>" in counts_html(found)
    assert "<b>0</b>" in counts_html(found)
    told = answer_html(found)
    assert f"All {chosen + 1} rows" in told
    assert f"{chosen} labels are tokens of the text itself" in told

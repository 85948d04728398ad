"""The part "A word in its context": its data, what it opens on, its program, and what MiniLM does with the senses."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demos.bert.embeddings.word_occurrences import Use
from demos.bert.embeddings.word_senses import bundled_uses
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.lessons.embeddings.word_senses.part import WordSenses, lines_of, pair_menu, read_pair, sense_names
from demos.page import progress
from demos.page.services import Sentence, Services
from demos.page.view import On
from tests.lessons.embeddings.answers import as_read
from tests.programs import printed
from tests.shown_values import shown_values

ASSETS = Path(__file__).resolve().parents[3] / "assets"
BAR = Sentence("She fished from the bank.", "Kettles sing.", "minilm")


def drawn(services: Services, sentence: Sentence, word: str, lines: str, layer: int, pair: str) -> dict[str, Any]:
    view, on = WordSenses(), On(services, sentence)
    said = {"word": word, "word_uses": lines, "word_layer": layer, "word_pair": pair}
    return {name: as_read(value) for name, value in view.draw(on, view.read(on, said)).items()}


def test_the_data_keeps_its_form(store: ModelStore) -> None:
    labelled, tokenizer = bundled_uses(), store.tokenizer("minilm")
    assert len(labelled) == len({one.use.sentence for one in labelled}) == 280
    assert set(Counter((one.word, one.sense) for one in labelled).values()) == {5}
    senses = Counter(word for word, _ in {(one.word, one.sense) for one in labelled})
    assert Counter(senses.values()) == {2: 19, 3: 6}
    for one in labelled:
        words = tokenizer.convert_ids_to_tokens(tokenizer(one.use.sentence)["input_ids"])
        assert words.count(one.word) == 1, one  # once, and as one piece
        assert 6 <= len(one.use.sentence.split()) <= 21
        assert "\t" not in one.use.sentence
    for word in senses:
        assert len({one.use.sentence[: one.use.start].count(" ") for one in labelled if one.word == word}) >= 4, word


def test_it_opens_on_two_senses_and_the_sentence_bar_joins(services: Services) -> None:
    lines = lines_of("bank", bundled_uses())
    shown = drawn(services, BAR, "bank", lines, 12, "least")
    curves, matrix, told = shown["curves"], shown["matrix"], shown["summary"]
    y = {trace.name: np.array(trace.y) for trace in curves.data}
    assert set(y["static table"]) == {1.0}
    theirs = y["“the”, same sense"] - y["“the”, different senses"]
    assert "“the” occurs in 5 of the same sentences. At layer 6, the gap between its curves is <b>+0.19</b>" in told
    assert "for “bank” in these sentences it is <b>+0.08</b>" in told
    assert "So the gap may be due to the topics" in told
    assert "selected because they show such a gap" in told
    np.testing.assert_allclose(theirs[[2, 3, 6]], [-0.01, 0.05, 0.19], atol=0.006)
    datasheet = " ".join((ASSETS / "data" / "senses.md").read_text(encoding="utf-8").split())
    assert "curves lie 0.19 apart and those of *bank* in the same five sentences 0.08" in datasheet
    assert 'by 0.10 and 0.12, "the" by −0.01 and 0.05' in datasheet
    earlier = drawn(services, BAR, "bank", lines, 2, "least")["summary"]
    assert "is <b>−0.01</b>; for “bank” in these sentences it is <b>+0.10</b>. So the gap is larger" in earlier
    others = drawn(services, BAR, "stick", lines_of("stick", bundled_uses()), 6, "least")["summary"]
    assert "selected because they show such a gap" not in others
    assert "<b>Control</b>" in others
    assert (y["same sense"] - y["different senses"])[1:].min() > 0.05  # every layer beyond the embeddings
    assert len(matrix.data[0].z) == 7
    assert [note.text for note in matrix.layout.annotations] == ["<b>money</b>", "<b>river</b>", "<b>yours</b>"]
    assert "is nearest to <b>river</b>" in told
    assert not shown["word_pair"]["visible"]
    static, *rows = printed(shown["program"])
    assert static == "static 1.0"
    numbers = np.array([[float(cell) for cell in row.split()[1:]] for row in rows])
    np.testing.assert_allclose(numbers.T, [y["same sense"], y["different senses"]], atol=6e-4)
    assert f"<td>{matrix.data[0].z[0][1]:.4f}</td></tr>" in shown["table"]


def test_the_reader_s_own_lines_have_a_curve_a_pair(services: Services) -> None:
    own = "A kettle sings 🎻.\nKettle, kettle!\n" + "${alert(1)}<script>kettle</script>"
    shown = drawn(services, BAR, "KETTLE", own, 0, "2-3")
    curves, pair = shown["curves"], shown["word_pair"]
    assert curves.data[2].name == "uses 2 and 3"
    assert (pair["value"], pair["visible"], len(pair["choices"])) == ("2-3", True, 1 + 6)
    assert "<script" not in shown["summary"]
    rows = [float(row.split()[1]) for row in printed(shown["program"])]
    np.testing.assert_allclose(rows[1:], curves.data[2].y, atol=6e-4)
    same = drawn(services, BAR, "kettle", "The kettle.\nThe kettle.", 3, "")
    assert set(same["curves"].data[2].y) == {1.0}


@pytest.mark.parametrize(
    ("word", "lines", "told"),
    [
        ("bank", "", "Write sentences with the word “bank”"),
        (" ", "x", "Write the word"),
        ("river", "The bank.", "Line 1, “The bank.”, does not contain the word “river”"),
        ("kettle", "One kettle.", "At least two uses"),
    ],
)
def test_what_is_missing_is_one_sentence(services: Services, word: str, lines: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        drawn(services, Sentence("", "", "minilm"), word, lines, 0, "least")


def test_names_and_pairs_fall_back() -> None:
    labelled = bundled_uses()
    uses = [one.use for one in labelled if one.word == "bat"]
    grouped = [Use(use.sentence, use.start, use.end, int(at > 6)) for at, use in enumerate(uses)]
    assert sense_names("Bat", grouped, labelled) == ["sense 1", "club"]  # the first mixes animal and club
    assert sense_names("ball", grouped, labelled) == ["sense 1", "sense 2"]
    cosine = np.array([[1, 0.2, 0.9], [0.2, 1, 0.5], [0.9, 0.5, 1]])
    assert [read_pair(asked, cosine) for asked in ("2-3", "3-2", "1-9", "x", "")] == [(1, 2), *[(0, 1)] * 4]
    assert pair_menu("1-9", 3, hidden=False)["value"] == "least"


def test_a_link_may_name_any_pair_and_a_layer_beyond_the_last(services: Services) -> None:
    """They are read before there are uses, and then only what the menu offers counts."""
    view, on = WordSenses(), On(services, BAR)
    assert [view.read(on, {"word_pair": pair}).word_pair for pair in ("23-24", "24-23")] == ["23-24", "least"]
    assert [view.read(on, said).word_layer for said in ({}, {"word_layer": 12}, {"word_layer": 2})] == [6, 6, 2]


@pytest.mark.slow
def test_minilm_finds_senses_that_the_static_table_can_not(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BETWEEN", -1.0)
    view, on = WordSenses(), On(services, BAR)
    steps = [shown_values(step) for step in view.draw_scores(on, view.read(on, {}))]
    assert all("of 280 sentences" in step["progress"] for step in steps[:-1])
    assert len(steps) > 2
    shown = steps[-1]
    blind, nearest, _, clusters = (np.array(trace.y) for trace in shown["scores"].data)
    assert clusters[0] == 0  # the static table
    assert nearest[0] == pytest.approx(blind[0], abs=1e-4)
    assert abs(clusters[1]) < 0.1  # layer 0 knows the word's place, and that says nothing
    assert clusters[-1] > 0.5
    assert nearest[-1] > 0.7 > 0.45 > blind[0]
    assert shown["ranks"].count("<li") == 25
    assert "layer 6" in shown["progress"]
    assert lines_of("stick", bundled_uses()).startswith("The dog dropped a wet stick")

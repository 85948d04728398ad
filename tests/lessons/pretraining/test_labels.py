"""Supervised or not?: rows as the program prints them, the data set's own label beside them, and the answer."""

import re
from typing import Any

import pytest

from demos.bert.model.catalogue import BUNDLED
from demos.errors import UserError
from demos.files import DATA
from demos.lessons.pretraining.labels.part import OPENING, SEED, Labels, labelled, opinions
from demos.page.services import Sentence, Services
from tests.one_line import one_line
from tests.programs import printed
from tests.shown_values import with_values


def drawn(services: Services, sentence: Sentence, text: str, seed: int) -> dict[str, Any]:
    values: dict[str, Any] = with_values(Labels().shown)(services, sentence, labels_text=text, labels_seed=seed)
    return values


BAR = Sentence("The lark sang.", "", BUNDLED)


def test_it_opens_on_a_next_sentence_and_masked_words(services: Services) -> None:
    found = labelled(services, BAR, OPENING, SEED)
    assert found.is_next
    assert found.count >= 5
    outputs = drawn(services, BAR, OPENING, SEED)
    assert f"<b>{found.count}</b>" in outputs["counts"]
    assert "Self-supervised." in outputs["answer"]
    assert "B follows A" in outputs["answer"]


@pytest.mark.parametrize("text", [OPENING, "", 'One "quoted" \\n sentence {x} only'])
def test_the_program_prints_these_labels(services: Services, text: str) -> None:
    for seed in (SEED, 4):
        found = labelled(services, BAR, text, seed)
        *lines, order = printed(drawn(services, BAR, text, seed)["program"])
        assert order == ("IsNext" if found.is_next else "NotNext")
        tokens = [found.encoding.tokens[place] for place in found.corruption.chosen]
        assert [line.split()[::2] for line in lines] == [
            [str(place), token] for place, token in zip(found.corruption.chosen, tokens, strict=True)
        ]


def test_the_given_label_is_the_data_sets_own(services: Services) -> None:
    rows = {line.rsplit("\t", 1)[0] for line in (DATA / "sentiment.tsv").read_text(encoding="utf-8").splitlines()}
    assert {f"{given.text}\t{given.label}" for given in opinions()} <= rows
    shown = [one_line(drawn(services, BAR, OPENING, seed)["rows"]) for seed in (1, 2)]
    labels = [re.findall(r'class="label">(\w+)</td><td class="asked">', rows) for rows in shown]
    assert [one[0] for one in labels] == [opinions()[seed].label for seed in (1, 2)]


def test_hostile_text_and_none(services: Services) -> None:
    for text in ("<script>alert(1)</script>. ${x}. `y`", "\U0001f600", "word " * 3_000, "a. " * 3_000):
        outputs = drawn(services, BAR, text, 3)
        assert "<script>" not in "".join(outputs[name] for name in ("rows", "counts", "answer", "numbers"))
        assert "Self-supervised." in outputs["answer"]
    for text in ("", "\u200b", " \n"):
        with pytest.raises(UserError, match="no text to derive"):
            drawn(services, Sentence(text, "", BUNDLED), "", 1)

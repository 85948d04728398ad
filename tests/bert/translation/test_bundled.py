"""The translators that come along: as good as the page says, and no reader's sentence breaks them."""

from pathlib import Path

import pytest
import torch

from demos.bert.translation.alignment import aligned, weights_for
from demos.bert.translation.bundled import bundled, load, read_sentence, right, save
from demos.bert.translation.decoding import steps, translate
from demos.bert.translation.grammar import example, held_out, sentences, student
from demos.bert.translation.vocabulary import MOST_CHARACTERS
from demos.errors import UserError


def test_with_attention_nine_of_ten_and_more_are_right_and_without_fewer() -> None:
    with_attention, without = (sum(right(score)) / len(held_out()) for score in ("additive", "none"))
    assert with_attention > 0.95
    assert without < with_attention - 0.1
    long = [at for at, pair in enumerate(held_out()) if len(pair.source) >= 13]
    short = [at for at, pair in enumerate(held_out()) if len(pair.source) <= 6]
    lost = [sum(right("additive")[at] - right("none")[at] for at in group) / len(group) for group in (short, long)]
    assert lost[1] > lost[0]


@pytest.mark.parametrize(
    ("score", "most", "least"), [("additive", 0.03, 0), ("transformer", 0.03, 0), ("none", 0.5, 0.2)]
)
def test_length_matters_without_attention_alone(score: str, most: float, least: float) -> None:
    """By how much the share of right sentences falls from the shortest to the longest."""
    shares = []
    for lengths in (range(10), range(10, 13), range(13, 100)):
        group = [one for pair, one in zip(held_out(), right(score), strict=True) if len(pair.source) in lengths]
        shares.append(sum(group) / len(group))
    assert least <= max(shares) - min(shares) <= most
    if least:
        assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("score", ["additive", "transformer"])
def test_the_lectures_own_sentence(score: str) -> None:
    assert student() in held_out()
    for typed, french in (
        ("I am a student", "je suis étudiant"),
        ("she is a student", "elle est étudiante"),
        ("we are students", "nous sommes étudiants"),
        ("the student sees the cat", "l' étudiant voit le chat"),
    ):
        assert translate(bundled(score), [read_sentence(typed)]) == [(*french.split(), ".")]


def test_nine_of_ten_content_words_read_their_own_english_word() -> None:
    assert aligned(bundled("additive"), held_out()) > 0.9
    assert aligned(bundled("additive"), sentences(9_000, 0)[-300:]) > 0.9


def test_the_papers_phrase_crosses() -> None:
    pair = example()
    written, decoded = steps(bundled("additive"), pair.source)
    assert written[:-1] == pair.target
    assert decoded.weights[0].argmax(-1).tolist()[4:7] == [6, 5, 4]
    assert torch.equal(torch.from_numpy(weights_for(bundled("additive"), pair)), decoded.weights[0, :-1])


def test_a_translator_is_written_and_read(tmp_path: Path) -> None:
    save(bundled("none"), tmp_path / "none.safetensors")
    again = load(tmp_path / "none.safetensors")
    sources = [pair.source for pair in held_out()[:20]]
    assert translate(again, sources) == translate(bundled("none"), sources)
    assert (again.source, again.target) == (bundled("none").source, bundled("none").target)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Type an English sentence"),
        (" . ", "Type an English sentence"),
        ("the zebra sleeps", "The word “zebra” is not among"),
        ("<script>", "“<script>” is not among"),
        ("the " * 25, "at most 24 words"),
        ("x" * (MOST_CHARACTERS + 1), "at most 24 words"),
        ("</s>", "is not among"),
    ],
)
def test_what_can_not_be_translated_is_said(typed: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_sentence(typed)


def test_a_typed_sentence() -> None:
    assert read_sentence(" The CAT sleeps. ") == ("the", "cat", "sleeps", ".")


def test_the_transformer_is_nearly_as_right_and_as_well_aligned() -> None:
    assert sum(right("transformer")) / len(held_out()) > 0.95
    assert aligned(bundled("transformer"), held_out()) > 0.9

"""The cased vocabulary: Google's own bytes, cut as transformers' slow algorithm and our own trace cut."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

from demos.bert.tokens.cased import CASED_VOCABULARY, cased_tokenizer, written_twice
from demos.bert.tokens.wordpiece import read_rules, trace
from demos.files import DATA
from demos.training.tasks.entities.data import SOURCES

PUBLISHED = "eeaa9875b23b04b4c54ef759d03db9d1ba1554838f8fb26c5d96fa551df93d02"  # of bert-base-cased
SENTENCES = [
    "Jim Henson was a puppeteer.",
    "Über den schönen Straßen schläft die müde Großmutter; déjà vu, GARÇON!",
    "On 3.11.2024 it cost $1,299.99 at https://www.example.org/shop?id=42 \t [MASK] McDonald's iPhone",
    "今天下雨 Ελλάδα الله 🍕 ﬁne İstanbul",
]


@pytest.fixture(scope="module")
def slow() -> Any:
    return BertTokenizerLegacy(str(CASED_VOCABULARY), do_lower_case=False)


def test_the_file_is_the_published_one() -> None:
    held = CASED_VOCABULARY.read_bytes()
    assert (len(held), hashlib.sha256(held).hexdigest()) == (213_450, PUBLISHED)
    sheet = (DATA / "cased_vocabulary.md").read_text(encoding="utf-8")
    assert all(figure in sheet for figure in (PUBLISHED, "213,450", "28,996", f"{written_twice():,} entries"))


def test_a_name_keeps_its_capitals_and_is_cut() -> None:
    """The ids are those that bert-base-cased gives."""
    tokenizer = cased_tokenizer()
    encoded = tokenizer("Jim Henson was a puppeteer.")
    assert encoded.tokens() == ["[CLS]", "Jim", "He", "##nson", "was", "a", "puppet", "##eer", ".", "[SEP]"]
    assert encoded["input_ids"] == [101, 3104, 1124, 15703, 1108, 170, 16797, 8284, 119, 102]
    assert not {"Hen", "Henson"} & set(tokenizer.get_vocab())
    assert not read_rules(tokenizer).lowercase
    assert not read_rules(tokenizer).strip_accents


def test_it_cuts_as_the_slow_tokenizer_and_the_trace_do(slow: Any) -> None:
    fast = cased_tokenizer()
    words = {word for example in SOURCES[0].load(0, 1_500).train for word in example.words}  # type: ignore[attr-defined]
    for text in [*SENTENCES, " ".join(sorted(words))]:
        pieces = fast.tokenize(text)
        assert pieces == slow.tokenize(text)
        assert pieces == [piece for word in trace(fast, text).words for piece in word.pieces]
    assert len(fast) == len(slow) == 28_996


def test_entries_that_stand_there_twice() -> None:
    entries = Path(CASED_VOCABULARY).read_text(encoding="utf-8").split("\n")
    small = {entry for entry in entries if entry.lower() == entry}
    assert written_twice() == sum(entry.lower() in small for entry in entries if entry not in small) == 3_848

"""Encodings against transformers' own, pairs and truncation included, and from many threads at once."""

import threading
from typing import Any

import pytest
from transformers import AutoTokenizer

from demos.bert.model.batches.padding import pad
from demos.bert.model.encoding import MAX_TOKENS, encode
from demos.bert.model.models import ModelStore
from demos.bert.tokens.counts import count
from demos.errors import UserError

INPUTS = [
    ("The bank raised its rates.", ""),
    ("A pair has two segments.", "The second one doesn't stop early."),
    ("", ""),
    ("", "only the second"),
    ("Zürich, naïve café — 東京 🚀 [MASK] [SEP]", "İstanbul\u200b 한국"),
]


@pytest.fixture(scope="module")
def tokenizer(store: ModelStore) -> Any:
    return store.tokenizer("minilm")


@pytest.fixture(scope="module")
def reference(store: ModelStore) -> Any:
    """Transformers' tokenizer in an object of its own: calling it changes settings inside it."""
    return AutoTokenizer.from_pretrained(store.folder("minilm"))


def check(encoding: Any, expected: Any) -> None:
    assert encoding.tokens == tuple(expected.tokens())
    assert encoding.input_ids == tuple(expected["input_ids"])
    assert encoding.token_type_ids == tuple(expected["token_type_ids"])
    assert encoding.word_ids == tuple(expected.word_ids())
    assert encoding.sequence_ids == tuple(expected.sequence_ids())
    assert encoding.offsets == tuple(expected["offset_mapping"])
    typed = {"[CLS]", "[SEP]", "[PAD]"}
    marks = zip(expected.tokens(), expected["special_tokens_mask"], strict=True)
    assert encoding.special_tokens_mask == tuple(int(mark or token in typed) for token, mark in marks)


@pytest.mark.parametrize(("text", "pair"), INPUTS)
def test_equal_to_transformers(tokenizer: Any, reference: Any, text: str, pair: str) -> None:
    expected = reference(text, pair or None, return_offsets_mapping=True, return_special_tokens_mask=True)
    check(encode(tokenizer, text, pair), expected)


def test_a_typed_special_token_is_special_and_no_word(tokenizer: Any) -> None:
    encoding = encode(tokenizer, "A [SEP] [MASK] 😀 [CLS]", "[PAD] B")
    typed = [2, 5, 7]
    assert [encoding.tokens[place] for place in typed] == ["[SEP]", "[CLS]", "[PAD]"]
    assert encoding.typed_special == tuple(typed)
    assert encoding.special_tokens_mask == (1, 0, 1, 0, 0, 1, 1, 1, 0, 1)
    assert encoding.word_index == (None, 0, None, 1, 2, None, None, None, 3, None)
    counts = count(tokenizer, encoding)
    assert (counts.special, counts.pieces, counts.words) == (6, 4, 4)
    assert encode(tokenizer, "A pair", "of two").typed_special == ()


@pytest.mark.parametrize(
    "lengths", [(700, 0), (509, 1), (510, 0), (511, 0), (300, 300), (20, 600), (600, 20), (255, 255)]
)
def test_cut_as_transformers_cuts(tokenizer: Any, reference: Any, lengths: tuple[int, int]) -> None:
    text, pair = (" ".join(["word"] * length) for length in lengths)
    encoding = encode(tokenizer, text, pair)
    expected = reference(
        text,
        pair or None,
        truncation="longest_first",
        max_length=MAX_TOKENS,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
    )
    check(encoding, expected)
    whole = sum(lengths) + (3 if pair else 2)
    assert len(encoding.dropped) == max(0, whole - MAX_TOKENS)
    assert set(encoding.dropped) <= {"word"}
    assert encoding.dropped_pair == lengths[1] - expected.sequence_ids().count(1)
    assert count(tokenizer, encoding).tokens == whole


def test_many_threads_and_one_tokenizer(tokenizer: Any) -> None:
    """A lecture hall types at once: a long text in one thread must not be cut, or left uncut, by another's."""
    faults: list[object] = []

    def work(words: int) -> None:
        for _ in range(60):
            try:
                length = len(encode(tokenizer, "word " * words))
            except Exception as error:
                faults.append(error)
            else:
                if length != min(words + 2, MAX_TOKENS):
                    faults.append(length)

    threads = [threading.Thread(target=work, args=(words,)) for words in (700, 3, 600, 650)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_word_index_runs_over_both_sentences(tokenizer: Any) -> None:
    encoding = encode(tokenizer, "unbelievably good", "it is")
    words = [index for index in encoding.word_index if index is not None]
    assert sorted(set(words)) == [0, 1, 2, 3]
    assert words == sorted(words)
    start = encoding.sentence_b_start
    assert start is not None
    assert encoding.tokens[start] == "it"
    assert encode(tokenizer, "alone").sentence_b_start is None


def test_lone_surrogates_are_cleaned_and_long_texts_refused(tokenizer: Any) -> None:
    assert encode(tokenizer, "a\ud800b").tokens == ("[CLS]", "ab", "[SEP]")
    for inputs in (("x" * 20_001, ""), ("", "x" * 20_001)):
        with pytest.raises(UserError, match="20,001 characters"):
            encode(tokenizer, *inputs)


def test_padded_as_transformers_pads(tokenizer: Any, reference: Any) -> None:
    texts = ["A short one.", "This one is quite a bit longer, unbelievably so.", ""]
    batch = pad(tokenizer, [encode(tokenizer, text) for text in texts])
    expected = reference(texts, padding=True)
    assert [list(row) for row in batch.input_ids] == expected["input_ids"]
    assert [list(row) for row in batch.attention_mask] == expected["attention_mask"]
    assert [list(row) for row in batch.token_type_ids] == expected["token_type_ids"]
    assert [list(row) for row in batch.tokens] == [expected.tokens(i) for i in range(3)]
    assert batch.shape == (3, len(expected["input_ids"][0]))
    assert batch.padding == sum(row.count(0) for row in expected["attention_mask"])


def test_counts(tokenizer: Any) -> None:
    counts = count(tokenizer, encode(tokenizer, "unbelievably 🍕 good!", "yes"))
    assert (counts.characters, counts.spaced, counts.words) == (len("unbelievably 🍕 good!") + 3, 4, 5)
    assert counts.pieces == len(tokenizer.tokenize("unbelievably 🍕 good!")) + 1
    assert counts.tokens == counts.pieces + 3
    assert counts.tokens_per_word == counts.pieces / 5
    assert counts.share_unknown == 1 / counts.pieces
    lecture = count(tokenizer, encode(tokenizer, "I am looking forward for today! It's going to be a big day"))
    assert (lecture.spaced, lecture.words) == (13, 16)  # "!", "'" and "s" are the three more
    empty = count(tokenizer, encode(tokenizer, ""))
    assert (empty.tokens, empty.tokens_per_word, empty.share_unknown) == (2, 0, 0)

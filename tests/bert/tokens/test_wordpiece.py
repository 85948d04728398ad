"""The trace against the real tokenizer, on every input: random Unicode, real sentences, cased and uncased."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from transformers import BertTokenizerFast

from demos.bert.model.batches.token_lists import tokenized
from demos.bert.model.encoding import encode
from demos.bert.model.models import ModelStore
from demos.bert.model.text import clean_text, small_mask
from demos.bert.tokens.wordpiece import (
    MAX_TRIES,
    NO_PIECE,
    SWITCHES,
    TOO_LONG,
    Trace,
    chunks,
    match,
    read_rules,
    trace,
)
from demos.errors import UserError
from demos.page.example_chips.example_chips import groups_for

SENTENCES = [
    "She sat on the bank of the river and counted the money from the bank.",
    "Über den schönen Straßen schläft die müde Großmutter; déjà vu, garçon!",
    "Η θάλασσα είναι ήσυχη σήμερα το πρωί. ΟΔΥΣΣΕΥΣ",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "今天下雨，我在家看书。 今日は雨なので、家で本を読みます。 ｶﾀｶﾅ",
    "오늘은 비가 옵니다. 각각",
    "مرحبا بالعالم، كيف حالُك؟ שָׁלוֹם עולם",
    "नमस्ते दुनिया, आप कैसे हैं? สวัสดีชาวโลก ყოველდღე",
    "I ❤️ pizza 🍕 but 👩‍👩‍👧‍👦 🏳️‍🌈 don't ❤️ me 😅",
    "On 3.11.2024 it cost $1,299.99 (about 5% less) at https://www.example.org/shop?id=42!",
    "a\u200bb\u00adc\ufeffd\x00e\ufffdf\x1cg\x0bh\x85i\u2028j\u00a0k\u3000l",
    "İstanbul ISPARTA ılık ǅ ﬁne ½ ㎏ Ⅷ ｆｕｌｌ",
    "Żółć Ẁ\u0300\u0301 e\u0301e\u0301 \u0301alone Å Å",
]
PIECES = ["[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]", "[mask]", "[MA\x00SK]", "[unused5]", "##", "##ing", "#", "un"]

words = st.one_of(
    st.text(max_size=12),  # any code point but surrogates
    st.text(st.characters(codec=None, exclude_categories=()), max_size=6),  # surrogates too
    st.text(st.characters(max_codepoint=0x24F), max_size=20),
    st.text(st.characters(categories=["Mn", "Mc", "Me", "Cf", "Cc", "Zs", "Zl", "Zp"]), max_size=6),
    st.text(st.characters(min_codepoint=0x3000, max_codepoint=0xD7FF), max_size=6),
    st.text("abcdefghijklmnopqrstuvwxyz", max_size=120),
    st.sampled_from(PIECES),
)
texts = st.lists(words, max_size=8).flatmap(
    lambda parts: st.sampled_from(["", " ", "\n", "-"]).map(lambda glue: glue.join(parts))
)


@pytest.fixture(scope="module")
def uncased(store: ModelStore) -> Any:
    return store.tokenizer("minilm")


@pytest.fixture(scope="module")
def cased(uncased: Any) -> Any:
    """BERT's cased rules over the bundled vocabulary: what is told apart is the rules, and most capitals are [UNK]."""
    return BertTokenizerFast(vocab=uncased.get_vocab(), do_lower_case=False)


@pytest.fixture(scope="module")
def odd(uncased: Any) -> Any:
    """Lower-cased with the accents kept, Chinese characters left together."""
    return BertTokenizerFast(
        vocab=uncased.get_vocab(), do_lower_case=True, strip_accents=False, tokenize_chinese_chars=False
    )


def tokens_of(traced: Trace) -> list[str]:
    return [piece for word in traced.words for piece in word.pieces]


def agree(tokenizer: Any, text: str) -> None:
    real = tokenizer(clean_text(text), add_special_tokens=False, verbose=False)
    traced = trace(tokenizer, text)
    assert tokens_of(traced) == real.tokens()
    assert [number for word in traced.words for number in word.ids] == real["input_ids"]
    assert "".join(part.text for part in traced.stages[0].parts) == clean_text(text)


@pytest.mark.parametrize("typed", ["[mask]", "[Mask]", "[mAsK]"])
def test_a_mask_in_small_letters_is_the_mask_token(uncased: Any, cased: Any, typed: str) -> None:
    text = f"Paris is {typed}."
    assert small_mask("", text) == typed
    for tokenizer in (uncased, cased):
        assert tokens_of(trace(tokenizer, text))[-2:] == ["[MASK]", "."]
        assert encode(tokenizer, text).input_ids == encode(tokenizer, "Paris is [MASK].").input_ids
    ids = tokenized(uncased, [text]).ids.tolist()
    assert ids == uncased("Paris is [MASK].")["input_ids"]
    assert small_mask("[MASK] [maſk] [masK] (mask)") == ""


@pytest.mark.parametrize("name", ["uncased", "cased", "odd"])
def test_the_trace_agrees_on_real_sentences(name: str, request: pytest.FixtureRequest) -> None:
    tokenizer = request.getfixturevalue(name)
    for text in [
        *SENTENCES,
        *(one["text"] for group in groups_for("tokens") for one in group["examples"]),
        "x" * 101,
        "x" * 100,
    ]:
        agree(tokenizer, text)


@settings(max_examples=1_000, deadline=None, derandomize=True)
@given(texts)
@example("[MA\x00SK]")
@example("[M\u0301ASK][CLS][SEP]x[MASK]")
@example("\ud800a\udfff")
@example("a" * 100 + "\u0301")
def test_the_trace_agrees_on_any_text(uncased: Any, cased: Any, odd: Any, text: str) -> None:
    for tokenizer in (uncased, cased, odd):
        agree(tokenizer, text)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(texts)
def test_word_by_word_gives_the_same_tokens(uncased: Any, text: str) -> None:
    pieces = [token for chunk in chunks(uncased, text) for token in tokens_of(trace(uncased, chunk))]
    assert pieces == tokens_of(trace(uncased, text))


@pytest.mark.parametrize("plane", [range(0x3100), range(0x3100, 0x110000, 37)])
def test_every_character_is_treated_as_the_tokenizer_treats_it(uncased: Any, plane: range) -> None:
    inside = [f"a{chr(point)}b" for point in plane if not 0xD800 <= point < 0xE000]
    text = "\n".join(inside)
    for start in range(0, len(text), 16_000):
        agree(uncased, text[start : start + 16_000])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(texts)
def test_the_steps_add_up_to_the_tokenizers_own_normalizer(uncased: Any, text: str) -> None:
    rules = read_rules(uncased)
    stages = {stage.name: stage for stage in trace(uncased, text).stages}
    whole = uncased.backend_tokenizer.normalizer
    for raw, done in zip(stages["special"].parts, stages["lowercase"].parts, strict=True):
        assert raw.special == (raw.text in rules.special_tokens)
        assert done.text == (raw.text if raw.special else whole.normalize_str(raw.text))


def test_the_rules_are_read_from_the_tokenizer(uncased: Any, cased: Any, odd: Any) -> None:
    settings_ = json.loads(uncased.backend_tokenizer.to_str())
    rules = read_rules(uncased)
    assert rules.max_characters == settings_["model"]["max_input_chars_per_word"] == 100
    assert set(rules.special_tokens) == {token["content"] for token in settings_["added_tokens"]}
    assert [getattr(rules, name) for name in SWITCHES] == [True, True, True, True]
    assert [getattr(read_rules(cased), name) for name in SWITCHES] == [True, True, False, False]
    assert [getattr(read_rules(odd), name) for name in SWITCHES] == [True, False, False, True]


def test_every_try_is_shown_longest_first(uncased: Any) -> None:
    (word,) = trace(uncased, "Pronounceable").words
    assert word.pieces == ("pro", "##no", "##unce", "##able")
    start = 0
    ends: list[int] = []
    for one in word.tries:
        assert one.piece == ("##" if one.start else "") + word.text[one.start : one.end]
        assert one.id == uncased.get_vocab().get(one.piece)
        if one.start != start:
            assert ends == list(range(len(word.text), ends[-1] - 1, -1))
            start, ends = one.start, []
        ends.append(one.end)
    assert [one.piece for one in word.tries if one.id is not None] == list(word.pieces)


def test_why_a_word_is_unknown(uncased: Any) -> None:
    long = trace(uncased, "a" * 101).words[0]
    assert (long.pieces, long.why_unknown, long.tries) == (("[UNK]",), TOO_LONG, ())
    assert trace(uncased, "a" * 100).words[0].why_unknown == ""
    stuck = trace(uncased, "pizza🍕").words[0]
    assert (stuck.pieces, stuck.why_unknown, stuck.stuck_at) == (("[UNK]",), NO_PIECE, 5)
    assert stuck.tries[0].piece == "pizza🍕"
    assert stuck.tries[-1].piece == "##🍕"
    assert [one.piece for one in stuck.tries if one.id is not None] == ["pizza"]


def test_greedy_is_not_the_fewest_pieces() -> None:
    """A vocabulary made for it: greedy takes "abc" first and can't go on, though "ab" + "##cd" would have fitted."""
    vocab = {"[UNK]": 0, "abc": 1, "ab": 2, "##cd": 3}
    rules = read_rules(BertTokenizerFast(vocab={**vocab, "[CLS]": 4, "[SEP]": 5, "[PAD]": 6, "[MASK]": 7}))
    word = match("abcd", vocab.get, rules)
    assert (word.pieces, word.ids, word.why_unknown, word.stuck_at) == (("[UNK]",), (0,), NO_PIECE, 3)
    assert match("ab", vocab.get, rules).ids == (2,)


def test_what_each_step_changed(uncased: Any) -> None:
    stages = {stage.name: stage for stage in trace(uncased, "Ü\x00\t今 é").stages}
    assert stages["clean_text"].changes == (("\x00", ""), ("\t", " "))
    assert stages["handle_chinese_chars"].changes == (("今", " 今 "),)
    assert stages["strip_accents"].changes == (("Ü", "U"), ("é", "e"))
    assert stages["lowercase"].changes == (("U", "u"),)
    assert [part.text for part in stages["punctuation"].parts] == ["u", "今", "e"]


def test_a_long_text_keeps_its_tokens_and_bounds_its_tries(uncased: Any) -> None:
    text = " ".join(f"{number:05d}qxzj{number * 7919 % 99991:05d}" for number in range(1_200))
    traced = trace(uncased, text)
    assert tokens_of(traced) == uncased.tokenize(text)
    assert sum(len(word.tries) for word in set(traced.words)) <= MAX_TRIES
    assert traced.words[0].tries
    assert not traced.words[-1].tries


def test_what_cannot_be_traced_is_refused_in_one_sentence(uncased: Any) -> None:
    with pytest.raises(UserError, match="20,001"):
        trace(uncased, "x" * 20_001)
    other = BertTokenizerFast(vocab=uncased.get_vocab())
    other.add_tokens(["wordy"])
    with pytest.raises(UserError, match="not of BERT's kind"):
        trace(other, "wordy")

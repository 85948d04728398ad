"""The corruption against the paper's shares, over many draws; whole words, pairs, and what can't be corrupted."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.corruption import (
    MASK,
    NO_LABEL,
    RANDOM,
    SAME,
    UNTOUCHED,
    Corruption,
    Shares,
    corrupt,
    never_chosen,
)
from demos.bert.pretraining.unigrams import Unigrams, project_texts, project_unigrams
from demos.errors import UserError

DRAWS = 2_000
MASK_ID, VOCABULARY = 103, 1_000
TOKENIZER = SimpleNamespace(
    mask_token_id=MASK_ID, vocab_size=VOCABULARY, unk_token_id=100, all_special_ids=[0, 100, 101, 102, MASK_ID]
)


def plain(count: int, rng: np.random.Generator, **options: float) -> Corruption:
    """`count` tokens of one piece each between [CLS] and [SEP]."""
    ids = [101, *range(200, 200 + count), 102]
    return corrupt(TOKENIZER, ids, rng, Shares(**options))


def test_kinds_and_places_fit_the_papers_shares_over_many_draws() -> None:
    rng = np.random.default_rng(0)
    kinds = np.stack([plain(58, rng).kinds for _ in range(DRAWS)])  # [draws, 60]
    assert ((kinds != UNTOUCHED).sum(axis=1) == 9).all()  # 15 % of 60, in every draw
    assert not kinds[:, [0, -1]].any()
    counts = [(kinds == kind).sum() for kind in (MASK, RANDOM, SAME)]
    assert chisquare(counts, np.array([0.8, 0.1, 0.1]) * 9 * DRAWS).pvalue > 0.01
    wrong = np.array([0.85, 0.1, 0.05]) * 9 * DRAWS
    assert chisquare(counts, wrong).pvalue < 1e-6  # many enough draws to tell
    # kinds of one draw's tokens are independent: how many of the 9 are masked is binomial
    masked = (kinds == MASK).sum(axis=1)
    assert masked.var() == pytest.approx(9 * 0.8 * 0.2, rel=0.1)
    # every word has the same chance (tests/bert/pretraining/test_corruption_counts.py has the exact test)
    places = (kinds != UNTOUCHED).sum(axis=0)[1:-1]
    assert chisquare(places).pvalue > 0.01


def test_the_share_of_many_inputs_is_the_share_asked_for() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.integers(20, 120, 400)
    total = sum(len(plain(int(n), rng).chosen) for n in lengths)
    assert total / (lengths + 2).sum() == pytest.approx(0.15, abs=0.002)


def test_labels_are_the_texts_own_words_and_the_input_holds_what_the_kind_says() -> None:
    rng = np.random.default_rng(2)
    pieces: list[int] = []
    for _ in range(300):
        found = plain(58, rng)
        own = np.array([101, *range(200, 258), 102])
        asked = found.labels != NO_LABEL
        assert (asked == (found.kinds != UNTOUCHED)).all()
        assert (found.labels[asked] == own[asked]).all()
        for kind, expected in ((UNTOUCHED, own), (SAME, own), (MASK, np.full(60, MASK_ID))):
            assert (found.input_ids[found.kinds == kind] == expected[found.kinds == kind]).all()
        pieces += found.input_ids[found.kinds == RANDOM].tolist()
    assert min(pieces) < 101  # the whole vocabulary, its unused and special entries too
    assert max(pieces) > 900
    assert max(pieces) < VOCABULARY
    assert chisquare(np.histogram(pieces, 5, (0, VOCABULARY))[0]).pvalue > 0.01


def test_one_token_at_least_other_shares_and_the_same_draw_again() -> None:
    rng = np.random.default_rng(3)
    assert len(plain(1, rng).chosen) == 1
    assert len(plain(58, rng, chosen=0.0).chosen) == 1
    assert len(plain(58, rng, chosen=1.0).chosen) == 58  # all but the special tokens
    for shares, kind in (((1, 0), MASK), ((0, 1), RANDOM), ((0, 0), SAME)):
        found = plain(58, rng, chosen=0.5, masked=shares[0], replaced=shares[1])
        assert set(found.kinds[found.chosen]) == {kind}
    first, again = (plain(58, np.random.default_rng(7)) for _ in range(2))
    assert (first.input_ids == again.input_ids).all()
    assert (first.kinds == again.kinds).all()


def test_whole_words_stay_whole_in_a_pair(bundled: LoadedModel) -> None:
    encoding = encode(
        bundled.tokenizer, "An unhurried gardener replanted hydrangeas.", "Unbelievably, snapdragons won."
    )
    words = encoding.word_index
    rng = np.random.default_rng(4)
    seen: set[int | None] = set()
    for _ in range(300):
        found = corrupt(bundled.tokenizer, encoding.input_ids, rng, Shares(chosen=0.3), words=words)
        chosen = {words[place] for place in found.chosen}
        assert None not in chosen
        assert {place for place, word in enumerate(words) if word in chosen} == set(found.chosen.tolist())
        assert len(found.chosen) <= round(0.3 * len(encoding))
        seen |= chosen
    assert seen == {word for word in words if word is not None}  # of both sentences
    assert len(words) > len(seen) + 6  # there are words of several pieces


def test_a_word_longer_than_the_count_is_taken_whole_where_there_is_no_other() -> None:
    found = corrupt(TOKENIZER, [101, 5, 6, 7, 102], np.random.default_rng(0), words=[None, 0, 0, 0, None])
    assert found.chosen.tolist() == [1, 2, 3]


def test_no_word_and_no_shares() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UserError, match="no word to choose"):
        plain(0, rng)
    for options in ({"masked": 0.95, "replaced": 0.1}, {"chosen": 1.5}, {"masked": -0.1}):
        with pytest.raises(ValueError, match="no shares"):
            plain(10, rng, **options)


def test_special_tokens_are_never_chosen_even_where_somebody_wrote_them(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, "A [MASK] and [SEP] and \U0001f600.")
    never = never_chosen(tiny.tokenizer, encoding.input_ids)
    named = [token for token, special in zip(encoding.tokens, never, strict=True) if special]
    assert named == ["[CLS]", "[MASK]", "[SEP]", "[SEP]"]
    assert "[UNK]" in encoding.tokens  # it stands for a word


def test_random_words_fit_the_named_distribution_and_not_the_other() -> None:
    counts = np.random.default_rng(5).zipf(1.3, VOCABULARY).clip(0, 500)
    counts[::4] = 0
    unigrams = Unigrams(counts)
    ids = [101, *range(200, 800), 102]
    for given, shares in ((None, np.full(VOCABULARY, 1 / VOCABULARY)), (unigrams, counts / counts.sum())):
        rng = np.random.default_rng(0)
        drawn = [
            found.input_ids[found.kinds == RANDOM]
            for found in (corrupt(TOKENIZER, ids, rng, Shares(0.9, 0.0, 1.0), unigrams=given) for _ in range(60))
        ]
        seen = np.bincount(np.concatenate(drawn), minlength=VOCABULARY)
        total = int(seen.sum())
        assert total == 60 * round(0.9 * 602)
        assert seen[shares == 0].sum() == 0
        often = shares * total >= 5  # the chi-square test's own condition; all others are one cell
        cells, expected = (np.append(values[often], values[~often].sum()) for values in (seen, shares * total))
        filled = expected > 0
        assert chisquare(cells[filled], expected[filled]).pvalue > 0.01
        even = np.full(VOCABULARY, total / VOCABULARY)
        assert (chisquare(seen, even).pvalue > 0.01) == (given is None)


def test_drawing_by_frequency_is_numpys_weighted_choice() -> None:
    unigrams = Unigrams(np.array([0, 5, 1, 0, 4]))
    ours = unigrams.draw(np.random.default_rng(3), 1_000)
    theirs = np.random.default_rng(3).choice(5, size=1_000, p=[0, 0.5, 0.1, 0, 0.4])
    np.testing.assert_array_equal(ours, theirs)
    assert (unigrams.total, unigrams.missing, unigrams.half) == (10, 0.4, 1)
    assert Unigrams(np.array([4, 3, 3])).half == 2


def test_the_projects_words_are_counted(tiny: LoadedModel) -> None:
    unigrams = project_unigrams(tiny.tokenizer)
    assert len(unigrams.counts) == tiny.tokenizer.vocab_size
    texts = project_texts()
    tokens = Counter(token for text in texts for token in tiny.tokenizer.tokenize(text))
    assert len(texts) > 2_500
    assert unigrams.total == sum(tokens.values())
    for token, count in tokens.most_common(20):
        assert unigrams.counts[tiny.tokenizer.convert_tokens_to_ids(token)] == count

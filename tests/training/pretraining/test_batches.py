"""From paragraphs to batches: sentences, held-out ones, pairs that follow or do not, corruption, the same by seed."""

import numpy as np
import pytest

from demos.bert.pretraining.heads import Pretrained
from demos.errors import UserError
from demos.training.pretraining.batches import collate, draw
from demos.training.pretraining.passage import EMPTY, MAX_LENGTH, read_passage

SENTENCES = [f"Sentence {word} stands here." for word in ("one", "two", "three", "four", "five", "six")]


def read(pretrained: Pretrained, text: str):
    return read_passage(pretrained.tokenizer, text)


@pytest.mark.parametrize(("count", "held"), [(1, 0), (2, 0), (3, 1), (6, 2), (9, 3)])
def test_the_last_sentences_are_held_out(pretrained: Pretrained, count: int, held: int):
    sentences = [f"This is the sentence {'very ' * at}here." for at in range(count)]
    passage = read(pretrained, " ".join(sentences))
    assert [*passage.train, *passage.held_out] == sentences
    assert len(passage.held_out) == held
    assert passage.has_pairs == (count - held > 1)


def test_what_is_no_text_is_refused_and_odd_text_is_read(pretrained: Pretrained):
    for text in ("", "  \n ", None, "[MASK] [SEP]"):
        with pytest.raises(UserError, match=EMPTY):
            read(pretrained, text)
    with pytest.raises(UserError, match="limit is 20,000"):
        read(pretrained, "a" * 20_001)
    long = read(pretrained, "word " * 3_900)  # without one full stop
    assert max(len(one.split()) for one in long.train) == 40
    for text in ("😀😀", "<script>alert(1)</script> ${x}. And more!", "漢字" * 4_000, "a" * 20_000, "same. " * 30):
        passage = read(pretrained, text)
        batch = collate(draw(passage, pretrained.tokenizer, 0, 1, 4, passage.has_pairs), 0)
        assert batch.input_ids.shape[1] <= MAX_LENGTH
        assert (batch.labels != -100).any(dim=1).all()


def test_what_closes_a_sentence_stays_with_it(pretrained: Pretrained):
    text = 'He said "Go home." Then he left. (She stayed.) “Why?” she asked.\nA title\n他走了。她留下。'
    found = read_passage(pretrained.tokenizer, text)
    told = [
        'He said "Go home."',
        "Then he left.",
        "(She stayed.)",
        "“Why?”",
        "she asked.",
        "A title",
        "他走了。",
        "她留下。",
    ]
    assert [*found.train, *found.held_out] == told


def test_half_of_the_pairs_follow_and_the_others_never_do(pretrained: Pretrained):
    passage = read(pretrained, " ".join(SENTENCES))
    ids = [tuple(pretrained.tokenizer(one, add_special_tokens=False)["input_ids"]) for one in passage.train]
    found = []
    for one in draw(passage, pretrained.tokenizer, 0, 1, 300, True):
        original = np.where(one.corruption.labels >= 0, one.corruption.labels, one.corruption.input_ids)
        border = one.segments.index(1)
        first, second = (ids.index(tuple(part.tolist())) for part in (original[1 : border - 1], original[border:-1]))
        assert (second == first + 1) == (one.following == 0)
        assert first != second
        found.append(one.following)
        assert (one.corruption.labels >= 0).sum() == max(1, round(0.15 * len(original)))
    assert 0.4 < np.mean(found) < 0.6


def test_two_sentences_are_swapped_and_one_is_words_alone(pretrained: Pretrained):
    passage = read(pretrained, " ".join(SENTENCES[:2]))
    assert {one.following for one in draw(passage, pretrained.tokenizer, 0, 1, 20, True)} == {0, 1}
    alone = draw(read(pretrained, SENTENCES[0]), pretrained.tokenizer, 0, 1, 4, False)
    assert {one.following for one in alone} == {None}
    assert collate(alone, 0).following is None


def test_the_same_seed_and_step_draw_the_same(pretrained: Pretrained):
    passage = read(pretrained, " ".join(SENTENCES))
    batches = [collate(draw(passage, pretrained.tokenizer, *at, 4, True), 0) for at in ((0, 1), (0, 1), (0, 2), (1, 1))]
    same, other, seeded = (
        batches[0].labels.shape == one.labels.shape and bool((batches[0].labels == one.labels).all())
        for one in batches[1:]
    )
    assert same
    assert not other
    assert not seeded

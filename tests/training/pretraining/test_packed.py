"""Batches of packed spans: what is in them, and both losses against transformers' own model with the same weights."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.pretraining.corruption import NO_LABEL
from demos.bert.pretraining.free_labels import NOTHING
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.next_sentence import IS_NEXT, NOT_NEXT
from demos.bert.pretraining.spans import document_of, other_documents
from demos.errors import UserError
from demos.training.pretraining.batches import collate
from demos.training.pretraining.packed import Packed, batch_losses, packed_batch

TEXT = "The kettle sings. Grandmother cuts the bread. A wasp circles over the plum jam. Nobody moves. " * 6
SEEDS = range(12)


def batch_of(pretrained: Pretrained, length: int, seed: int, text: str = TEXT) -> tuple[Packed, ...]:
    return packed_batch(pretrained.tokenizer, document_of(text), length, 4, seed)


@pytest.mark.parametrize("length", [128, 512])
def test_each_sequence_is_two_spans_of_whole_texts(pretrained: Pretrained, length: int) -> None:
    """[CLS] A [SEP] B [SEP]: the ids are those of the sentences that the pieces name, cut as they say."""
    tokenizer, documents = pretrained.tokenizer, (document_of(TEXT), *other_documents())
    labels = set()
    for seed in SEEDS:
        batch = batch_of(pretrained, length, seed)
        assert len(batch) == 4
        assert batch[0].spans.first[0].document == 0
        for one in batch:
            expected = [tokenizer.cls_token_id]
            for span in (one.spans.first, one.spans.second):
                for piece in span:
                    sentence = documents[piece.document][piece.sentence]
                    ids = tokenizer(sentence, add_special_tokens=False).input_ids
                    expected += ids[piece.front : len(ids) - piece.back]
                expected.append(tokenizer.sep_token_id)
            assert list(one.original) == expected
            assert len(one) == one.spans.tokens <= length
            first = one.original.index(tokenizer.sep_token_id)
            assert one.instance.segments == (0,) * (first + 1) + (1,) * (len(one) - first - 1)
            assert one.instance.following == (IS_NEXT if one.spans.is_next else NOT_NEXT)
            labels.add(one.instance.following)
            corruption = one.instance.corruption
            assert len(corruption.chosen) == round(0.15 * len(one))
            chosen = corruption.labels != NO_LABEL
            np.testing.assert_array_equal(corruption.labels[chosen], np.array(one.original)[chosen])
            assert not {0, first, len(one) - 1} & {*corruption.chosen.tolist()}
    assert labels == {IS_NEXT, NOT_NEXT}


def test_the_losses_are_those_of_transformers(pretrained: Pretrained, whole: BertForPreTraining) -> None:
    """The same batch, padded, through BertForPreTraining: its loss is the sum of both."""
    for seed in SEEDS[:4]:
        batch = batch_of(pretrained, 128, seed)
        padded = collate([one.instance for one in batch], pretrained.tokenizer.pad_token_id)
        with torch.inference_mode():
            output = whole(
                padded.input_ids,
                attention_mask=padded.attention_mask,
                token_type_ids=padded.token_type_ids,
                labels=padded.labels,
                next_sentence_label=padded.following,
            )
        logits = output.prediction_logits.double().log_softmax(-1)
        places = padded.labels != NO_LABEL
        masked = -logits[places].gather(1, padded.labels[places][:, None]).mean().item()
        chances = output.seq_relationship_logits.double().softmax(-1)
        following = [-math.log(chances[at, one.instance.following or 0]) for at, one in enumerate(batch)]
        losses = batch_losses(pretrained, batch)
        assert losses.total == pytest.approx(output.loss.item(), abs=1e-4)
        assert losses.masked == pytest.approx(masked, abs=1e-4)
        assert losses.following == pytest.approx(following, abs=1e-4)
        assert losses.next_sentence == pytest.approx(sum(following) / 4, abs=1e-4)
        assert losses.chosen == int(places.sum())
        assert [guess for of_one in losses.guesses for guess in of_one] == logits[places].argmax(-1).tolist()


def test_another_seed_another_batch_and_the_same_seed_the_same(pretrained: Pretrained) -> None:
    inputs = [
        tuple(tuple(one.instance.corruption.input_ids.tolist()) for one in batch_of(pretrained, 128, seed))
        for seed in (*SEEDS, 0)
    ]
    assert inputs[0] == inputs[-1]
    assert len(set(inputs)) == len(SEEDS)


def test_a_model_without_a_next_sentence_head_has_one_loss(pretrained: Pretrained) -> None:
    alone = replace(pretrained, pooler=None, relation=None)
    batch = packed_batch(alone.tokenizer, document_of(TEXT), 128, 4, 0, pairs=False)
    losses = batch_losses(alone, batch)
    assert losses.following is None
    assert losses.next_sentence is None
    assert losses.total == losses.masked


def test_short_odd_and_empty_texts(pretrained: Pretrained) -> None:
    for text in ("Rain.", "😀", "<script>alert(1)</script> ${x}", "[MASK] [SEP]", "漢字。" * 50, "word " * 3_000):
        batch = batch_of(pretrained, 128, 1, text)
        assert len(batch) == 4
        assert max(map(len, batch)) <= 128
        assert math.isfinite(batch_losses(pretrained, batch).total)
    with pytest.raises(UserError, match=NOTHING):
        batch_of(pretrained, 128, 0, "\u200b.".replace(".", ""))

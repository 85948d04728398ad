"""BERT's own pre-training, reckoned by hand, and an encoder's operations by PyTorch's own counter."""

import csv

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel

from demos.bert.encoder.size import KNOWN, Shape, work_per_token
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.bert.pretraining.original_run import (
    PASSES,
    WORDS,
    costs,
    fine_tuned_tokens,
    fine_tuning_operations,
    operations,
    seconds_here,
    tokens_read,
)
from demos.files import DATA

SMALL = Shape("small", 2, 64, 4, vocabulary=100)


def test_the_tokens_and_the_words() -> None:
    assert tokens_read() == 900_000 * 256 * 128 + 100_000 * 256 * 512 == 42_598_400_000
    assert sum(WORDS.values()) == 3.3e9
    assert tokens_read() / sum(WORDS.values()) == pytest.approx(12.9, abs=0.05)
    assert 10**6 * 256 * 512 / sum(WORDS.values()) == pytest.approx(40, abs=0.5)  # the paper's "40 epochs"
    assert fine_tuned_tokens() == 392_702 * 3 * 128


def test_a_word_is_some_1_3_tokens(store: ModelStore) -> None:
    tokenizer = store.tokenizer(BUNDLED)
    with (DATA / "library.tsv").open(encoding="utf-8") as file:
        texts = [row["sentence"] for row in csv.DictReader(file, delimiter="\t")]
    words = sum(len(text.split()) for text in texts)
    tokens = sum(len(ids) for ids in tokenizer(texts, add_special_tokens=False).input_ids)
    assert tokens / words == pytest.approx(1.3, abs=0.15)


def test_the_operations_are_three_times_those_that_pytorch_counts() -> None:
    config = BertConfig(
        vocab_size=100, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256
    )
    model = BertModel(config, add_pooling_layer=False)
    model.set_attn_implementation("eager")
    counted = []
    for length in (128, 512):
        with FlopCounterMode(display=False) as counter, torch.inference_mode():
            model(torch.zeros(1, length, dtype=torch.long))
        counted.append(counter.get_total_flops())
    assert operations(SMALL) == pytest.approx(3 * 256 * (900_000 * counted[0] + 100_000 * counted[1]))


def test_four_and_sixteen_tpus_need_four_days() -> None:
    base, large = costs()
    assert (base.tpus, large.tpus) == (4, 16)
    assert base.tokens_per_second * 4 * 24 * 3600 == pytest.approx(tokens_read())
    assert base.fine_tuning_seconds == pytest.approx(fine_tuned_tokens() / tokens_read() * 4 * 4 * 24 * 3600)
    assert large.operations / base.operations == pytest.approx(3.5, abs=0.1)


def test_the_same_machine_needs_the_time_that_its_rate_says() -> None:
    """A step of 1,000 tokens of BERT base in ten seconds; attention's own products are the rest of the time."""
    base = KNOWN[-2]
    share = operations(base) / (PASSES * tokens_read() * work_per_token(base, 0).total)
    assert 1 < share < 1.1
    assert seconds_here(operations(base), base, 1_000, 10.0) == pytest.approx(tokens_read() / 100 * share)
    slow, quick = (seconds_here(operations(base), shape, 1_000, 10.0) for shape in (SMALL, base))
    assert slow > 100 * quick


def test_fine_tuning_is_a_282nd_of_the_tokens_and_less_of_the_operations() -> None:
    base = KNOWN[-2]
    here = seconds_here(fine_tuning_operations(base), base, 1_000, 10.0)
    assert here == pytest.approx(fine_tuned_tokens() / 100, rel=0.03)  # attention's own products beside it
    assert tokens_read() / fine_tuned_tokens() == pytest.approx(282, abs=1)
    assert operations(base) / fine_tuning_operations(base) > 282  # a quarter of BERT's tokens stood in long sequences

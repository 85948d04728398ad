"""GPT-2's answers are transformers' own: its language model's logits, and what `generate` writes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import GPT2LMHeadModel

from demos.bert.causal.prompts import BEST, WRITTEN
from demos.bert.family.prompted import answered, continued
from tests.bert.family.tiny_family import write

PROMPT, ANSWER = "translate English to French: The agreement is", "un café"


def test_the_answer_and_what_is_written_are_transformers_own(tmp_path: Path) -> None:
    model, tokenizer = write("gpt2", tmp_path / "gpt2")
    whole = GPT2LMHeadModel.from_pretrained(tmp_path / "gpt2").eval()
    inputs = tokenizer(PROMPT, return_tensors="pt")
    ids, pieces = inputs["input_ids"][0].tolist(), tokenizer(f" {ANSWER}")["input_ids"]
    with torch.inference_mode():
        shares = whole(torch.tensor([[*ids, *pieces]])).logits[0, len(ids) - 1 : -1].softmax(-1)
    found = answered(model, tokenizer, PROMPT, ANSWER)
    product = 1.0
    for row, piece in zip(shares, pieces, strict=True):
        product *= float(row[piece])
    assert found.probability == pytest.approx(product, rel=1e-4)
    order = shares[0].argsort(descending=True).tolist()
    assert found.rank == 1 + order.index(pieces[0])
    assert [guess.token_id for guess in found.best] == order[:BEST]
    pad = tokenizer.eos_token_id
    written = whole.generate(**inputs, max_new_tokens=WRITTEN, do_sample=False, pad_token_id=pad)[0, len(ids) :]
    assert continued(model, tokenizer, PROMPT) == tokenizer.decode(written, skip_special_tokens=True)


def test_it_stops_where_the_model_ends_the_text(tmp_path: Path) -> None:
    model, tokenizer = write("gpt2", tmp_path / "gpt2")
    first = answered(model, tokenizer, PROMPT, ANSWER).best[0].token_id
    tokenizer.eos_token = tokenizer.convert_ids_to_tokens(first)
    assert continued(model, tokenizer, PROMPT) == ""

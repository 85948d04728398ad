"""GPT-2's and T5's answers are transformers' own: logits and loss of the whole model, and what `generate` writes."""

import math
from pathlib import Path

import pytest
import torch
from transformers import GPT2LMHeadModel

from demos.bert.causal.prompts import BEST, WRITTEN
from demos.bert.family.prompted import answered, answered_by_both, continued, written_by_both
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


def test_t5s_answer_is_that_of_its_loss(tmp_path: Path) -> None:
    model, tokenizer = write("t5", tmp_path / "t5")
    inputs = tokenizer(PROMPT, return_tensors="pt")
    labels = tokenizer(ANSWER, add_special_tokens=False, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        whole = model(**inputs, labels=labels)
    found = answered_by_both(model, tokenizer, PROMPT, ANSWER)
    assert found.probability == pytest.approx(math.exp(-labels.shape[1] * float(whole.loss)), rel=1e-4)
    order = whole.logits[0, 0].argsort(descending=True).tolist()
    assert found.rank == 1 + order.index(int(labels[0, 0]))
    assert [guess.token_id for guess in found.best] == order[:BEST]


def test_t5_writes_the_likeliest_token_each_time(tmp_path: Path) -> None:
    model, tokenizer = write("t5", tmp_path / "t5")
    read, given = torch.tensor([tokenizer(PROMPT)["input_ids"]]), [model.config.decoder_start_token_id]
    while len(given) <= WRITTEN and given[-1] != tokenizer.eos_token_id:
        with torch.inference_mode():
            logits = model(input_ids=read, decoder_input_ids=torch.tensor([given])).logits[0, -1]
        given.append(int(logits.argmax()))
    assert len(given) > 2
    assert written_by_both(model, tokenizer, PROMPT) == tokenizer.decode(given, skip_special_tokens=True)

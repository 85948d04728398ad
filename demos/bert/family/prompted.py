"""Prompts answered by GPT-2 and T5: how likely the right answer is, and what the model writes."""

from dataclasses import replace
from typing import Any

import torch

from demos.bert.causal.prompts import WRITTEN, Answered, scored
from demos.bert.family.labels import labels_of


def logits_of(model: Any, states: torch.Tensor) -> torch.Tensor:
    """Last hidden states <float32>[..., d] -> [..., V]: GPT-2's output layer is its embedding matrix."""
    return states @ model.get_input_embeddings().weight.T


@torch.inference_mode()
def answered(model: Any, tokenizer: Any, prompt: str, answer: str) -> Answered:
    """The rank and probability of the answer, a space before it, after the prompt. `model` is a GPT2Model."""
    start, pieces = tokenizer(prompt)["input_ids"], tokenizer(f" {answer}")["input_ids"]
    states = model(input_ids=torch.tensor([[*start, *pieces]])).last_hidden_state[0, len(start) - 1 : -1]
    return _named(tokenizer, scored(tokenizer, prompt, answer, pieces, logits_of(model, states)))


def _named(tokenizer: Any, result: Answered) -> Answered:
    """With the tokens' names as the page writes them."""
    names = labels_of(tokenizer, [guess.token_id for guess in result.best]).names
    return replace(
        result, best=tuple(replace(guess, token=name) for guess, name in zip(result.best, names, strict=True))
    )


@torch.inference_mode()
def continued(model: Any, tokenizer: Any, prompt: str) -> str:
    """The model's continuation, the likeliest token each time: WRITTEN tokens, or fewer where it ends the text."""
    read, past = tokenizer(prompt)["input_ids"], None
    written: list[int] = []
    while len(written) < WRITTEN:
        outputs = model(input_ids=torch.tensor([read]), past_key_values=past, use_cache=True)
        chosen, past = int(logits_of(model, outputs.last_hidden_state[0, -1]).argmax()), outputs.past_key_values
        if chosen == tokenizer.eos_token_id:
            break
        written.append(chosen)
        read = [chosen]
    return str(tokenizer.decode(written))


@torch.inference_mode()
def answered_by_both(model: Any, tokenizer: Any, prompt: str, answer: str) -> Answered:
    """The rank and probability of the answer's pieces, without an end, where the encoder reads the prompt.

    `model` is a T5ForConditionalGeneration. Its decoder is given the pieces one place later (teacher forcing).
    """
    read = torch.tensor([tokenizer(prompt)["input_ids"]])
    pieces = tokenizer(answer, add_special_tokens=False)["input_ids"]
    decoder_input = torch.tensor([[model.config.decoder_start_token_id, *pieces[:-1]]])
    logits = model(input_ids=read, decoder_input_ids=decoder_input, use_cache=False).logits[0]
    return _named(tokenizer, scored(tokenizer, prompt, answer, pieces, logits))


@torch.inference_mode()
def written_by_both(model: Any, tokenizer: Any, prompt: str) -> str:
    """The decoder's output, the likeliest token each time: WRITTEN tokens, or fewer where it ends the text."""
    read = tokenizer(prompt, return_tensors="pt")
    written = model.generate(**read, max_new_tokens=WRITTEN, num_beams=1, do_sample=False)[0]
    return str(tokenizer.decode(written, skip_special_tokens=True))

"""Prompts contain what they say, and an answer's probability is that of transformers' own decoder."""

import pytest
import torch
from transformers import BertLMHeadModel

from demos.bert.causal.prompts import SHOTS, TASKS, WRITTEN, Task, answered, continued
from demos.bert.causal.writing import Method, beginning, write
from demos.bert.pretraining.heads import Pretrained


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_no_prompt_holds_its_own_answer(task: Task) -> None:
    for number, (question, answer) in enumerate(task.pairs):
        for shots in SHOTS:
            prompt = task.prompt(number, shots)
            assert prompt.startswith(task.instruction)
            assert prompt.endswith(f"{question}{task.joint}")
            assert f"{question}{task.joint} {answer}" not in prompt
            assert sum(f"{other}{task.joint} {solution}" in prompt for other, solution in task.pairs) == shots


def test_the_prompt_of_the_paper() -> None:
    """Brown et al. 2020, figure 2.1."""
    (task,) = (task for task in TASKS if task.name.startswith("GPT-3"))
    assert task.prompt(0, 3).splitlines() == [
        "Translate English to French:",
        "sea otter => loutre de mer",
        "peppermint => menthe poivrée",
        "plush girafe => girafe peluche",
        "cheese =>",
    ]


def test_an_answers_probability_and_rank(decoders: tuple[Pretrained, BertLMHeadModel]) -> None:
    ours, theirs = decoders
    prompt, answer = "the dog saw", "unbelievably"
    found = answered(ours, prompt, answer)
    ids = ours.tokenizer(prompt)["input_ids"][:-1]
    pieces = ours.tokenizer(answer, add_special_tokens=False)["input_ids"]
    chance = 1.0
    for at, piece in enumerate(pieces):
        with torch.inference_mode():
            logits = theirs(torch.tensor([[*ids, *pieces[:at]]]), use_cache=False).logits[0, -1]
        chance *= logits.softmax(-1)[piece].item()
        if not at:
            assert found.rank == 1 + int((logits > logits[piece]).sum())
            assert [guess.token_id for guess in found.best] == logits.topk(5).indices.tolist()
    assert found.probability == pytest.approx(chance, rel=1e-4)


def test_prompts_that_are_continued_together_are_continued_as_each_alone(
    decoders: tuple[Pretrained, BertLMHeadModel],
) -> None:
    decoder, _ = decoders
    prompts = ["the dog saw", "the", "the dog saw the unbelievably"]
    alone = [
        [piece.guess.token_id for piece in write(decoder, beginning(decoder, prompt), Method(), WRITTEN)]
        for prompt in prompts
    ]
    assert continued(decoder, prompts) == [decoder.tokenizer.decode(tokens) for tokens in alone]

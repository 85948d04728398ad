"""The program that the part hands out: the rank of an answer after each prompt."""

from __future__ import annotations

from demos.bert.causal.prompts import SHOTS, Task
from demos.lessons.family.program_decoder import DECODER


def prompt_code(task: Task, number: int) -> str:
    """Prints the rank of the answer's first word piece, and the probability of all its pieces."""
    prompts = [task.prompt(number, shots) for shots in SHOTS]
    answer = task.pairs[number][1]
    return f"""{DECODER}
answer = tokenizer({answer!r}, add_special_tokens=False)["input_ids"]
for prompt in {prompts!r}:
    ids = tokenizer(prompt)["input_ids"][:-1]  # without [SEP]
    with torch.inference_mode():
        logits = model(torch.tensor([ids + answer]), use_cache=False).logits[0, len(ids) - 1 : -1]
    rank = 1 + (logits[0] > logits[0, answer[0]]).sum().item()
    print(rank, logits.softmax(-1)[range(len(answer)), answer].prod().item())
"""

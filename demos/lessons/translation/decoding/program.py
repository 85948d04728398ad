"""The program of the part: the same translation, with torch and safetensors alone."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.translation.decoding import SHOWN, TOP
from demos.files import read_beside

MEMORY = "memory = torch.stack([torch.cat(both) for both in zip(forward[1:], reversed(backward[1:]))])  # [n, d]\n"
WITH = """
    both = torch.tanh(W["of_state.weight"] @ s + W["of_state.bias"] + memory @ W["of_memory.weight"].T)
    weights = (both @ W["energy.weight"][0]).softmax(0)  # additive score (Bahdanau et al. 2015)
    context = weights @ memory
"""
WITHOUT = """
    context = last  # no attention: the encoder's last states in both directions, the same at each step
"""
WEIGHTS = ', " ".join(f"{weight:.4f}" for weight in weights)'


def decoding_code(source: Sequence[str], score: str, step: int) -> str:
    """A program that translates these words as the page does, and prints the numbers of step `step`, from 1."""
    code = read_beside(__file__, "program.txt")
    attends = score != "none"
    for name, value in {
        "SENTENCE": repr(" ".join(source)),
        "SCORE": score,
        "MEMORY\n": MEMORY if attends else "",
        "\nCONTEXT\n": WITH if attends else WITHOUT,
        ", WEIGHTS": WEIGHTS if attends else "",
        "STEP": str(step),
        "SHOWN": str(SHOWN),
        "TOP": str(TOP),
    }.items():
        code = code.replace(name, value)
    return code

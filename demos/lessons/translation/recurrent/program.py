"""The program of the part: the same steps, with torch and safetensors alone."""

from __future__ import annotations

from demos.files import read_beside

LIKELIEST = "int(logits.argmax())"
RANDOM = "int(torch.multinomial((logits / TEMPERATURE).softmax(0), 1, generator=draw))"
GENERATOR = "draw = torch.Generator().manual_seed(SEED)\n"


def writing_code(
    beginning: str, temperature: float | None, seed: int, step: int, longest: int, top: int, shown: int
) -> str:
    """A program that writes after this beginning as the page does, and prints the numbers of step `step`, from 1."""
    code = read_beside(__file__, "program.txt")
    greedy = temperature is None
    for name, value in {
        "BEGINNING": repr(beginning.lower().replace(".", " ")),
        "GENERATOR\n": "" if greedy else GENERATOR,
        "CHOICE": LIKELIEST if greedy else RANDOM,
        "TEMPERATURE": str(temperature),
        "SEED": str(seed),
        "STEP": str(step),
        "LONGEST": str(longest),
        "SHOWN": str(shown),
        "TOP": str(top),
    }.items():
        code = code.replace(name, value)
    return code

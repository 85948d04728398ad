"""The program of the part: the same training."""

from __future__ import annotations

from demos.files import read_beside
from demos.training.translation.training import Plan


def training_code(plan: Plan) -> str:
    """A program that trains as the page does, with this plan."""
    values = {"SCORE": repr(plan.score), "STEPS": str(plan.steps), "SEED": str(plan.seed)}
    code = read_beside(__file__, "program.txt")
    for name, value in values.items():
        code = code.replace(name, value)
    return code

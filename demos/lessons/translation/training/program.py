"""The program of the part: the same training."""

from __future__ import annotations

from demos.bert.translation.translators import TRANSFORMER
from demos.files import read_beside
from demos.lessons.translation.program_model import model_class
from demos.training.translation.training import RATE, TRANSFORMER_RATE, Plan


def training_code(plan: Plan) -> str:
    """A program that trains as the page does, with this plan."""
    packing, score, model = model_class(plan.score)
    rate = TRANSFORMER_RATE if plan.score == TRANSFORMER else RATE
    code = read_beside(__file__, "program.txt")
    values = {"IMPORTS\n": packing, "SCORE": score, "TASK": plan.task, "RATE": str(rate), "MODEL": model.rstrip()}
    for name, value in (values | {"STEPS": str(plan.steps), "SEED": str(plan.seed)}).items():
        code = code.replace(name, value)
    return code

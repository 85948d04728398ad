"""The program of the part: the same training."""

from __future__ import annotations

from demos.bert.translation.tasks import TASKS
from demos.bert.translation.translators import TRANSFORMER
from demos.files import read_beside
from demos.training.translation.training import RATE, TRANSFORMER_RATE, Plan

PACKING = "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\n"
OF_THE_PROJECT = (
    "from demos.bert.translation.transformer import Transformer\n"  # the one of the lesson, PyTorch's arithmetic
)


def training_code(plan: Plan) -> str:
    """A program that trains as the page does, with this plan."""
    code = read_beside(__file__, "program.txt")
    if plan.score == TRANSFORMER:
        model = {"IMPORTS": "", "PROJECT\n": OF_THE_PROJECT, "SCORE, ": "", "score, ": "", "MODEL\n\n": ""}
        model |= {"MADE": "Transformer(len(english), len(french))", "RATE": str(TRANSFORMER_RATE)}
    else:
        model = {"IMPORTS": PACKING, "PROJECT\n": "", "SCORE": repr(plan.score), "RATE": str(RATE)}
        model |= {"MODEL\n": read_beside(__file__, "program_gru.txt"), "MADE": "Translator()"}
    module = TASKS[plan.task].sentences.__module__.rpartition(".")[-1]
    for name, value in (model | {"TASK": module, "STEPS": str(plan.steps), "SEED": str(plan.seed)}).items():
        code = code.replace(name, value)
    return code

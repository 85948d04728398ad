"""The program of the part: the learned mix and a BiLSTM with transformers and torch alone."""

from __future__ import annotations

from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import model_lines
from demos.files import read_beside
from demos.training import bilstm_tagger as bilstm
from demos.training.layer_mix import DECAY, EPSILON, MIX_RATE, RATE, STEPS


def mix_code(spec: ModelSpec) -> str:
    """Prints the shares, gamma and the F1 of the held-out sentences; then that of a BiLSTM on the last four layers."""
    needed, source = model_lines(spec)
    filled = {"IMPORTS": needed, "SOURCE": source, "EPSILON": EPSILON, "RATE": RATE, "MIX_RATE": MIX_RATE,
              "DECAY": DECAY, "STEPS": STEPS, "UNITS": bilstm.UNITS, "LAYERS": bilstm.LAYERS,
              "DROPOUT": bilstm.DROPOUT, "LSTM_RATE": bilstm.RATE, "EPOCHS": bilstm.EPOCHS,
              "BATCH": bilstm.BATCH}  # fmt: skip
    program = read_beside(__file__, "program.txt")
    for name, value in filled.items():
        program = program.replace(f"<{name}>", str(value))
    return program

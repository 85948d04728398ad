"""The common lines of several parts' programs: the translators as classes of plain torch, and the bundled ones."""

from demos.bert.translation.translators import TRANSFORMER
from demos.files import read_beside, read_filled

PACKING = "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\n"


def model_class(kind: str) -> tuple[str, str, str]:
    """(an import where one is needed, the line that sets `score`, the class `Translator`) of this kind of translator.

    The class reads the vocabularies `english` and `french`; its weights are named as those of demos/bert/translation.
    """
    if kind == TRANSFORMER:
        return "", "", read_beside(__file__, "program_transformer.txt")
    return PACKING, f"score = {kind!r}\n", read_beside(__file__, "program_gru.txt")


def bundled_lines(kind: str, *imports: str) -> str:
    """A program's first lines: `model`, the translator that comes along, and its words `english` and `french`."""
    packing, score, model = model_class(kind)
    needed = "".join(f"{line}\n" for line in ("import json\n", "import torch", "from safetensors import safe_open",
                                              "from torch import nn", *imports))  # fmt: skip
    values = {"IMPORTS\n": needed + packing + "\n", "KIND": kind, "SCORE\n": score, "MODEL": model.rstrip()}
    return read_filled(__file__, "program_bundled.txt", values)

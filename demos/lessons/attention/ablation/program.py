"""The program of "Switch heads off": it repeats the page's numbers with transformers and a hook, nothing else."""

from __future__ import annotations

from collections.abc import Collection

from demos.bert.attention.ablation import Head
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.figures.program import begin
from demos.templates import templates

PROGRAM = templates(__file__, "program.txt")
MIXING = {
    True: "model.encoder.layer[layer].attention.output.dense",
    False: "model.transformer.layer[layer].attention.out_lin",  # DistilBERT, which alone has no segments
}


def ablation_code(spec: ModelSpec, encoding: Encoding, off: Collection[Head]) -> str:
    """Prints each token's cosine before and after, for every hidden state, with these heads off."""
    return PROGRAM.program(begin(spec, repr(encoding.text)), sorted(off), MIXING[spec.segments])

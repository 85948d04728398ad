"""The programs of the ready models: of the adapters all three answers, of the Hub's models one program an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.files import read_beside


def ready_code(lines: Sequence[str], question: str) -> str:
    """Prints the adapters' answers about these lines; runs where their files are: a notebook brings them along."""
    return _filled(read_beside(__file__, "program.txt"), {"LINES": list(lines), "QUESTION": question})


def hub_code(spec: ModelSpec, lines: Sequence[str], question: str) -> str:
    """Prints the answers of one of the Hub's models about these lines; runs wherever transformers is installed."""
    values = {
        "MODEL": spec.hub_id, "REVISION": spec.revision, "LINES": list(lines), "TEXT": " ".join(lines),
        "QUESTION": question,
    }  # fmt: skip
    return _filled(read_beside(__file__, f"program_{spec.key}.txt"), values)


def _filled(program: str, values: Mapping[str, object]) -> str:
    """Each name in capitals replaced by its value; what a reader typed is not looked through."""
    pattern = re.compile(rf"\b({'|'.join(values)})\b")
    return pattern.sub(lambda match: repr(values[match[1]]), program)

"""The programs of the ready models: of the adapters all three answers, of the Hub's models one program an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.files import read_beside


def ready_code(text: str, lines: Sequence[str], question: str) -> str:
    """Prints the adapters' answers about a text and its lines; runs where their files are: a notebook brings them."""
    values = {"TEXT": text, "LINES": list(lines), "QUESTION": question}
    return _filled(read_beside(__file__, "program.txt"), values)


def hub_code(spec: ModelSpec, text: str, lines: Sequence[str], question: str) -> str:
    """Prints the answers of one of the Hub's models about a text, or its lines; runs wherever transformers is."""
    values = {
        "MODEL": spec.hub_id, "REVISION": spec.revision, "LINES": list(lines), "TEXT": text,
        "QUESTION": question,
    }  # fmt: skip
    return _filled(read_beside(__file__, f"program_{spec.key}.txt"), values)


def _filled(program: str, values: Mapping[str, object]) -> str:
    """The template with each name in capitals replaced by its value; the reader's text is not searched for names."""
    pattern = re.compile(rf"\b({'|'.join(values)})\b")
    return pattern.sub(lambda match: repr(values[match[1]]), program)

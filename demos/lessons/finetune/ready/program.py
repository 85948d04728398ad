"""The programs of the ready models: of the adapters one for all answers, of the Hub's models one an answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.files import read_beside

# The beginning of each task's part of program.txt.
TITLES = {"sentence": "Sentiment", "entities": "Names", "question": "Question", "pair": "Two lines"}


def ready_code(text: str, lines: Sequence[str], opinions: Sequence[str], question: str, tasks: Collection[str]) -> str:
    """Prints the adapters' answers of these tasks; runs where their files are: a notebook brings them.

    `lines` are the text's, two where they are compared, and `opinions` those whose sentiment is classified.
    """
    values = {"TEXT": text, "LINES": list(lines), "OPINIONS": list(opinions), "QUESTION": question}
    head, *parts = read_beside(__file__, "program.txt").split("\n\n# ")
    parts = [part for part in parts if part.partition(":")[0] in {TITLES[kind] for kind in tasks}]
    return _filled("\n\n# ".join([head, *parts]).rstrip() + "\n", values)


def hub_code(spec: ModelSpec, text: str, lines: Sequence[str], question: str) -> str:
    """Prints the answers of one of the Hub's models about a text, or its lines; runs wherever transformers is."""
    values = {
        "MODEL": spec.hub_id,
        "REVISION": spec.revision,
        "LINES": list(lines),
        "TEXT": text,
        "QUESTION": question,
    }
    return _filled(read_beside(__file__, f"program_{spec.key}.txt"), values)


def _filled(program: str, values: Mapping[str, object]) -> str:
    """The template with each name in capitals replaced by its value; the reader's text is not searched for names."""
    pattern = re.compile(rf"\b({'|'.join(values)})\b")
    return pattern.sub(lambda match: repr(values[match[1]]), program)

"""The Tokens lesson's answers: the padded batch and the trace of WordPiece."""

import unicodedata
from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from demos.bert.model.batches.padding import Batch
from demos.bert.tokens.wordpiece import Part, Rules, Stage, Trace, Word
from demos.figures.token_chips import hue, visible
from demos.templates import templates

TEXT = templates(__file__)
BATCH_DRAWN = {"inputs": 8, "tokens": 48}  # of one batch, and of one input
MAX_CHANGES = 12
MAX_PARTS = 60
MAX_CHARACTERS = 400  # drawn of one part
MAX_WORDS = 12  # words whose search is drawn
MAX_ROWS = 600  # tries drawn for one word; the search itself is never cut

_QUIET = {  # the note of a step that changed nothing
    "typed": "",
    "special": "no special token in the text",
    "clean_text": "nothing to clean",
    "handle_chinese_chars": "no Chinese characters",
    "strip_accents": "no accents",
    "lowercase": "no capital letters",
}


def batch_figure(batch: Batch, inputs: int = 0, cut: bool = False) -> Markup:
    """The batch, cell by cell: token, id, attention mask (1 text, 0 padding) and segment.

    `inputs` is how many there are, drawn or not; `cut` whether one of them was cut to fit.
    """
    if not batch.shape[0]:
        return Markup()
    colours = [
        [hue(word) if on else "pad" for word, on in zip(words, mask, strict=True)]
        for words, mask in zip(batch.word_index, batch.attention_mask, strict=True)
    ]
    return TEXT.batch(batch, colours, BATCH_DRAWN, inputs, cut)


def trace_figure(trace: Trace) -> Markup:
    """Every step of `trace`, in the order the tokenizer takes them; then each word's search, and the tokens."""
    before = [(), *[stage.parts for stage in trace.stages]]
    return TEXT.trace(
        [_stage(stage, earlier) for stage, earlier in zip(trace.stages, before, strict=False)],
        [search_figure(word, trace.rules) for word in trace.words[:MAX_WORDS]],
        len(trace.words) - MAX_WORDS,
        trace.words[:MAX_PARTS],
        len(trace.words) - MAX_PARTS,
        trace.rules.prefix,
    )


def search_figure(word: Word, rules: Rules) -> Markup:
    """The greedy search over one word, in rounds: one for each piece."""
    rounds = []
    drawn = 0
    for start, group in groupby(word.tries, key=lambda candidate: candidate.start):
        tries = list(group)
        shown = [*tries[:-1][: max(0, MAX_ROWS - drawn)], tries[-1]]
        drawn += len(shown)
        misses = sum(candidate.id is None for candidate in tries)
        rounds.append({"start": start, "misses": misses, "shown": shown, "hidden": len(tries) - len(shown)})
    return TEXT.search(word, visible(word.text[:MAX_CHARACTERS]), rounds, rules)


def _stage(stage: Stage, before: Sequence[Part]) -> dict[str, object]:
    """One step: its parts, what it changed, and whether it left the text as it was."""
    count, note, same = len(stage.parts), "", False
    if not stage.on and stage.name != "special":
        note, same = "skipped by this tokenizer", True
    elif not stage.changes and stage.name in ("spaces", "punctuation"):
        same = count == len(before)
        what = "words" if stage.name == "punctuation" else "parts"
        note = "nothing to split" if same else f"{count:,} {what}"
    elif not stage.changes:
        same = stage.name != "typed" and not (stage.name == "special" and stage.on)
        note = "special tokens are left unchanged" if stage.name == "special" and stage.on else _QUIET[stage.name]
    return {
        "name": stage.name,
        "parts": [
            {
                "special": part.special,
                "text": visible(part.text[:MAX_CHARACTERS]),
                "cut": len(part.text) > MAX_CHARACTERS,
            }
            for part in stage.parts[:MAX_PARTS]
        ],
        "more_parts": count - MAX_PARTS,
        "note": note,
        "same": same,
        "changes": [_change(old, new) for old, new in stage.changes[:MAX_CHANGES]],
        "more_changes": len(stage.changes) - MAX_CHANGES,
    }


def _change(old: str, new: str) -> tuple[dict[str, str], dict[str, str]]:
    """Both sides of a change. Where they look the same, each character apart, with the code points."""
    if unicodedata.normalize("NFC", old) != unicodedata.normalize("NFC", new):
        return _character(old), _character(new)
    first, second = (
        {"text": f"{' '.join(text)} ({' '.join(f'U+{ord(letter):04X}' for letter in text)})"} for text in (old, new)
    )
    return first, second


def _character(text: str) -> dict[str, str]:
    """One change's side: a character, or the name of what can't be seen."""
    if text in ("", " "):
        return {"named": "space" if text else "nothing"}
    if len(text) == 3 and text[0] == text[2] == " ":
        return {"text": Markup("␣{}␣").format(visible(text[1]))}
    if len(text) == 1 and unicodedata.combining(text):
        return {"text": f"◌{text}"}
    return {"text": visible(text)}

"""Inputs with their labels and each label's origin, the answer that follows, and the program."""

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.bert.pretraining.corruption import PAPER
from demos.bert.pretraining.free_labels import FreeLabels
from demos.figures.program import model_lines
from demos.figures.short_text import short
from demos.figures.token_chips import visible
from demos.lessons.pretraining.figure_kinds import MARKS, NAMES
from demos.lessons.pretraining.program_lines import choose_lines
from demos.templates import templates
from demos.training.data.tables import Row

TEXT = templates(__file__)
AROUND = 5  # tokens on either side of the masked one
FEW = 5  # masked words above; the fold has all
CLOSE = set(".,;:!?)'’")  # these follow a word without a space
LENGTH = 160  # characters of a sentence


def labels_html(labels: FreeLabels, read: Sequence[str], example: Row) -> str:
    """Rows of input, label and where the label comes from: pre-training's, then fine-tuning's.

    `read` has n tokens; `example` is one of a fine-tuning data set, with the label it was given.
    """
    return TEXT.rows(
        masked=[_word(labels, read, place) | _around(labels.encoding, read, place) for place in _few(labels)],
        left=max(len(labels.corruption.chosen) - FEW, 0),
        first=short(labels.first, LENGTH),
        second=short(labels.second, LENGTH),
        is_next=labels.is_next,
        example=example,
        own=short(f"{labels.first} {labels.second}" if labels.is_next else labels.first, LENGTH),
    )


def counts_html(labels: FreeLabels) -> str:
    """The number of labels that come from this text itself: many for pre-training, none for fine-tuning."""
    return TEXT.counts(labels.count, len(labels.corruption.chosen), len(labels.encoding))


def answer_html(labels: FreeLabels) -> str:
    """The kind of learning, argued from the rows above."""
    return TEXT.answer(labels.count, len(labels.corruption.chosen), labels.is_next)


def numbers_html(labels: FreeLabels, read: Sequence[str]) -> str:
    """Every masked word of this pass: its position, the token in BERT's input, its kind, its label."""
    return TEXT.numbers([_word(labels, read, place) for place in labels.corruption.chosen])


def _few(labels: FreeLabels) -> list[int]:
    """The first chosen places, with one of each kind where there is one, in the order of the text."""
    places, kinds = labels.corruption.chosen.tolist(), labels.corruption.kinds
    first = {int(kinds[place]): place for place in reversed(places)}
    picked = list(first.values())[:FEW]
    picked += [place for place in places if place not in picked][: FEW - len(picked)]
    return sorted(picked)


def _word(labels: FreeLabels, read: Sequence[str], place: int) -> dict[str, str | int]:
    kind = int(labels.corruption.kinds[place])
    return {
        "place": place,
        "kind": NAMES[kind],
        "mark": MARKS[kind],
        "read": visible(read[place]),
        "label": visible(labels.encoding.tokens[place]),
    }


def _around(encoding: Encoding, read: Sequence[str], place: int) -> dict[str, str | bool]:
    """BERT's input before and after a position, and whether there is more of it."""
    start, end = max(place - AROUND, 0), min(place + AROUND + 1, len(read))
    while start < place and read[start] in CLOSE:  # the end of the hidden part
        start += 1
    return {
        "before": _joined(encoding, read, start, place),
        "after": _joined(encoding, read, place + 1, end),
        "cut_before": start > 0,
        "cut_after": end < len(read),
    }


def _joined(encoding: Encoding, read: Sequence[str], start: int, end: int) -> str:
    """The tokens [start, end) as running text, pieces joined to their word; escaped."""
    text = ""
    for place in range(start, end):
        token = read[place]
        whole = place > start and read[place - 1 : place + 1] == list(encoding.tokens[place - 1 : place + 1])
        glued = token.startswith("##") and whole
        text += token[2:] if glued else token if token in CLOSE else f" {token}"
    return visible(text.strip())


def labels_code(spec: ModelSpec, sentences: list[str], others: tuple[str, ...], seed: int) -> str:
    """Prints the label of each masked word, and then of the next sentence."""
    needed, source = model_lines(spec)
    return f"""{needed}import numpy as np
from transformers import AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
rng = np.random.default_rng({seed})
sentences = {sentences!r}
others = {others!r}
border = int(rng.integers(1, len(sentences))) if len(sentences) > 1 else 1
is_next = len(sentences) > 1 and bool(rng.random() < 0.5)
first = " ".join(sentences[:border])
second = " ".join(sentences[border:]) if is_next else others[int(rng.integers(len(others)))]

inputs = tokenizer(first, second, truncation=True, max_length={MAX_TOKENS})
ids = np.array(inputs["input_ids"])
{choose_lines(PAPER)}
for place, label in zip(places, labels.tolist()):
    print(place, *tokenizer.convert_ids_to_tokens([ids[place], label]))
print("IsNext" if is_next else "NotNext")
"""

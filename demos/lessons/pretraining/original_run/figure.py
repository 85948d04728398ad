"""BERT's pre-training on one screen: its text as areas, a sequence, the losses of a batch, and what it took."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from demos.bert.encoder.size import total_parameters
from demos.bert.model.catalogue import ModelSpec
from demos.bert.pretraining.next_sentence import IS_NEXT, LABELS, NOT_NEXT
from demos.bert.pretraining.original_run import (
    EPOCHS_IN_PAPER,
    LENGTHS,
    SEQUENCES,
    STEPS,
    WORDS,
    costs,
    fine_tuned_tokens,
    our_run,
    passes,
    tokens_in_paper,
    tokens_read,
)
from demos.figures.recipe import millions
from demos.figures.short_text import short
from demos.figures.token_chips import visible
from demos.lessons.pretraining.figure_kinds import MARKS, NAMES
from demos.lessons.pretraining.program_loss import loss_lines
from demos.templates import templates
from demos.training.pretraining.batches import Instance
from demos.training.pretraining.packed import BatchLosses, Packed

TEXT = templates(__file__)
COLUMNS = {128: 32, 512: 64}  # cells in a row of the sequence's picture, by its length
OPENING_WORDS = 70  # characters of a span
HEIGHT = 104  # pixels of the areas
WORDS_LOSS = """words = torch.nn.functional.cross_entropy(  # the mean over the chosen tokens
    output.prediction_logits.flatten(0, 1), padded(labels, -100).flatten())
print("masked words", round(words.item(), 3))
print("next sentence", round((output.loss - words).item(), 3))
"""


@dataclass(frozen=True)
class Shown:
    """A batch of sequences of at most `length` tokens, and its losses by the model `title`."""

    batch: tuple[Packed, ...]
    losses: BatchLosses
    length: int
    title: str
    tokenizer: Any
    documents: Sequence[Sequence[str]]  # as sentences; the pieces of the spans name them

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The tokens of these ids, as text to be shown."""
        return [visible(token) for token in self.tokenizer.convert_ids_to_tokens(list(ids))]


def data_html() -> str:
    """The words of both collections as areas, and to the same scale all that our heads' training processed."""
    total, ours = sum(WORDS.values()), our_run()
    areas = [{"name": name, "words": words, "share": 100 * words / total} for name, words in WORDS.items()]
    return TEXT.data(areas, total, ours, HEIGHT, 100 * ours.words / total)


def sequence_html(shown: Shown) -> str:
    """The batch's first sequence, one cell per token."""
    sequence = shown.batch[0]
    columns = COLUMNS[shown.length]
    cells = list(_cells(shown, sequence))
    cells += [{"kind": "", "of": "pad", "title": "[PAD]"}] * (shown.length - len(cells))
    spans = [_span(shown, span) for span in (sequence.spans.first, sequence.spans.second)]
    counts = [int((sequence.instance.corruption.kinds == kind).sum()) for kind in range(1, len(NAMES))]
    kinds = list(zip(NAMES[1:], MARKS[1:], counts, strict=True))
    return TEXT.sequence(cells, columns, shown.length, len(sequence), spans, kinds, sequence.spans.is_next)


def _cells(shown: Shown, sequence: Packed) -> Iterator[dict[str, str]]:
    instance = sequence.instance
    original, read = shown.tokens(sequence.original), shown.tokens(instance.corruption.input_ids.tolist())
    specials = {0, instance.segments.count(0) - 1, len(sequence) - 1}
    for place, kind in enumerate(instance.corruption.kinds.tolist()):
        of = "special" if place in specials else "ab"[instance.segments[place]]
        title = original[place] if not kind else f"{original[place]}: {NAMES[kind]}, {read[place]}"
        yield {"kind": NAMES[kind], "of": of, "title": title}


def _span(shown: Shown, pieces: Sequence[Any]) -> dict[str, str | int]:
    """The size of a span and how it begins."""
    text = " ".join(shown.documents[piece.document][piece.sentence] for piece in pieces)
    return {
        "sentences": len(pieces),
        "tokens": sum(piece.tokens for piece in pieces),
        "opening": ("… " if pieces[0].front else "") + short(text, OPENING_WORDS),
    }


def losses_html(shown: Shown) -> str:
    """Both losses and their sum, and the batch that they belong to."""
    losses = shown.losses
    bars = [
        {
            "spans": [("a", sequence.instance.segments.count(0)), ("b", sequence.instance.segments.count(1))],
            "label": LABELS[sequence.instance.following] if sequence.instance.following is not None else "",
            "masked": sum(losses.each[at]) / len(losses.each[at]),
            "following": losses.following[at] if losses.following else None,
        }
        for at, sequence in enumerate(shown.batch)
    ]
    vocabulary = len(shown.tokenizer)
    chance = math.log(vocabulary) + (math.log(2) if losses.following else 0)
    return TEXT.losses(losses, bars, shown.length, shown.title, vocabulary, chance, SEQUENCES)


def costs_html() -> str:
    """BERT base, BERT large, and our heads side by side."""
    known, ours = costs(), our_run()
    columns = [
        {
            "name": cost.shape.name,
            "parameters": millions(total_parameters(cost.shape)),
            "tpus": cost.tpus,
        }
        for cost in known
    ]
    return TEXT.costs(
        columns=columns,
        ours=ours,
        our_parameters=millions(total_parameters(ours.shape)),
        steps=STEPS,
        sequences=SEQUENCES,
        lengths=LENGTHS,
        read=tokens_read(),
        epochs=EPOCHS_IN_PAPER,
        passes=passes(),
    )


def counting_html() -> str:
    """The two ways of counting passes, and the operations: what the table has no room for."""
    rows = [
        {
            "shape": cost.shape,
            "tokens_per_second": cost.tokens_per_second,
            "operations": cost.operations,
            "minutes": cost.fine_tuning_seconds / 60,
        }
        for cost in costs()
    ]
    return TEXT.counting(
        rows=rows,
        words=sum(WORDS.values()),
        read=tokens_read(),
        in_paper=tokens_in_paper(),
        steps=STEPS,
        sequences=SEQUENCES,
        lengths=LENGTHS,
        epochs=EPOCHS_IN_PAPER,
        passes=passes(),
        fine_tuned=fine_tuned_tokens(),
    )


def numbers_html(shown: Shown) -> str:
    """Every chosen token of the batch with its prediction and loss, and every sequence with its label and loss."""
    rows = []
    for number, sequence in enumerate(shown.batch):
        corruption = sequence.instance.corruption
        places = corruption.chosen.tolist()
        read = shown.tokens([int(corruption.input_ids[place]) for place in places])
        answers = shown.tokens([int(corruption.labels[place]) for place in places])
        guesses = shown.tokens(shown.losses.guesses[number])
        for at, place in enumerate(places):
            kind = NAMES[int(corruption.kinds[place])]
            rows.append((number, place, kind, read[at], answers[at], guesses[at], shown.losses.each[number][at]))
    sequences = [
        {
            "tokens": len(sequence),
            "label": LABELS[IS_NEXT if sequence.spans.is_next else NOT_NEXT],
            "loss": shown.losses.following[at] if shown.losses.following else None,
        }
        for at, sequence in enumerate(shown.batch)
    ]
    return TEXT.numbers(rows, sequences)


def losses_code(spec: ModelSpec, instances: Sequence[Instance]) -> str:
    """Prints the two losses, where the model has both heads, and the loss of the batch.

    `spec` is the encoder's own, as in `Pretrained`.
    """
    both = WORDS_LOSS if all(instance.following is not None for instance in instances) else ""
    return f"""{loss_lines(spec, instances, gradient=False)}{both}print("loss", round(output.loss.item(), 3))
"""

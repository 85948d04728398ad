"""Next sentence as HTML: the answer, four inputs, the making of pairs, the results of the trials; and the program."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.bert.pretraining.next_documents import Score
from demos.bert.pretraining.next_sentence import LABELS, Drawn
from demos.figures.numbers import percent
from demos.figures.short_text import short
from demos.figures.token_chips import token_label
from demos.lessons.pretraining.program_lines import OURS
from demos.templates import signed, templates
from demos.training.metrics import wilson

TEXT = templates(__file__)
SHOWN = 64  # tokens of a drawn input
CUT = 110  # characters of an input in the table of cases
THEIRS = """import torch
from transformers import AutoTokenizer, BertForPreTraining

name, revision = {name!r}, {revision!r}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = BertForPreTraining.from_pretrained(name, revision=revision, dtype="float32").eval()
"""


@dataclass(frozen=True)
class Case:
    """One way to put an input together, and the model's output for it."""

    name: str
    label: int | None  # in pre-training; None where no text says whether B is the next sentence
    encoding: Encoding
    logits: np.ndarray  # <float32>[2]: IsNext, NotNext; the three below have the same order
    probabilities: np.ndarray
    losses: np.ndarray

    @property
    def is_next(self) -> float:
        """The probability of IsNext."""
        return float(self.probabilities[0])


@dataclass(frozen=True)
class Instance:
    """A drawn pair as the model gets it: some tokens chosen for the masked-word task."""

    drawn: Drawn
    encoding: Encoding  # corrupted
    chosen: Collection[int]  # positions of the tokens that the model must predict


def answer_html(case: Case) -> str:
    """Both labels: probability as a bar, logit, and the loss where this label is the true one."""
    labels = [
        {"name": name, "probability": float(probability), "logit": signed(logit, "+.2f"), "loss": loss}
        for name, probability, logit, loss in zip(LABELS, case.probabilities, case.logits, case.losses, strict=True)
    ]
    return TEXT.answer(labels, percent)


def sequence_html(encoding: Encoding, label: str, chosen: Collection[int] = (), *, bare: bool = False) -> str:
    """[CLS] A [SEP] B [SEP], token by token, in the colours of the segments; below each its segment and position.

    `label` is the list's name for screen readers; `chosen` tokens are outlined; `bare` omits the rows below them.
    """
    tokens = [
        {
            "token": token_label(token),
            "segment": "ab"[encoding.token_type_ids[position]],
            "special": encoding.special_tokens_mask[position],
            "chosen": position in chosen,
        }
        for position, token in enumerate(encoding.tokens[:SHOWN])
    ]
    return TEXT.sequence(tokens, label, len(encoding) - SHOWN, bare)


def gist_html(cases: Sequence[Case]) -> str:
    """The cue that the model uses here, inferred from four cases: B as written, random, swapped, the same twice."""
    written = cases[0].encoding
    equal = written.text.strip() == written.text_pair.strip()
    return TEXT.gist(*(case.is_next for case in cases), label=cases[0].label, percent=percent, equal=equal)


def cases_html(cases: Sequence[Case], chosen: int) -> str:
    """All inputs side by side, the chosen one marked: tokens, label, the probability of IsNext, and the loss."""
    rows = [
        {
            "shown": number == chosen,
            "name": case.name,
            "first": short(case.encoding.text, CUT // 2),
            "second": short(case.encoding.text_pair, CUT // 2),
            "is_next": case.is_next,
            "label": None if case.label is None else LABELS[case.label],
            "loss": None if case.label is None else case.losses[case.label],
        }
        for number, case in enumerate(cases)
    ]
    return TEXT.cases(rows, percent)


def numbers_html(cases: Sequence[Case], chosen: int) -> str:
    """Every logit, probability and loss, then the input on show token by token."""
    return TEXT.numbers(cases, cases[chosen].encoding, token_label)


def made_html(
    instances: Sequence[Instance],
    documents: Sequence[Sequence[str]],
    kinds: Sequence[str],
    tosses: int,
    said_next: int,
) -> str:
    """Each instance beside the documents that its two sentences came from; then the count of both labels."""
    shown = []
    for instance in instances:
        drawn, label = instance.drawn, LABELS[instance.drawn.label]
        sides = {drawn.first_at: "a", drawn.second_at: "b"}
        cards = [
            {
                "number": number + 1,
                "kind": kinds[number],
                "lines": [
                    {"sentence": sentence, "side": sides.get((number, place), "")}
                    for place, sentence in enumerate(documents[number])
                ],
            }
            for number in dict.fromkeys([drawn.first_at[0], drawn.second_at[0]])
        ]
        sequence = sequence_html(instance.encoding, f"Input labeled {label}", instance.chosen, bare=True)
        shown.append({"label": label, "documents": cards, "sequence": sequence})
    return TEXT.made(shown, tosses, said_next)


def trials_html(scores: Sequence[Score]) -> str:
    """The answers to each kind of pair, counted, with 95% intervals of the share that is correct."""
    return TEXT.trials({score.kind: score for score in scores}, wilson, percent)


def next_code(spec: ModelSpec, pairs: Sequence[tuple[str, str]]) -> str:
    """Prints two logits, two probabilities and two losses, one line per pair; `spec` as in `Pretrained`."""
    begin = THEIRS.format(name=spec.hub_id, revision=spec.revision) if spec.hub_id else OURS
    listed = "".join(f"    ({first!r}, {second!r}),\n" for first, second in pairs)
    return f"""{begin}
pairs = [
{listed}]
inputs = tokenizer(*map(list, zip(*pairs)), padding=True, truncation=True, max_length={MAX_TOKENS}, return_tensors="pt")
with torch.inference_mode():
    logits = model(**inputs).seq_relationship_logits  # [pairs, 2]: IsNext, NotNext
for row in logits:
    chances = row.softmax(dim=-1)
    losses = [torch.nn.functional.cross_entropy(row, torch.tensor(label)) for label in (0, 1)]
    print([round(float(value), 4) for value in (*row, *chances, *losses)])
"""

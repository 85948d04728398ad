"""One task's input in three forms: BERT's tokens, GPT's with start, delimiter and extract, and T5's text.

GPT: Radford et al. 2018, section 3.3 and figure 1. BERT: Devlin et al. 2019, figure 4 and section 4. T5: Raffel et al.
2020, section 2.4 and appendix D.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from demos.bert.model.encoding import encode

BOTH_ORDERS = "the sum of two states of ⟨extract⟩, one for each order, because two such sentences have no natural order"
START, DELIMITER, EXTRACT = "⟨start⟩", "$", "⟨extract⟩"


@dataclass(frozen=True)
class Task:
    """One task. `fields` names its texts; the example is used if the reader has typed too few."""

    name: str
    fields: tuple[str, ...]
    example: tuple[str, ...]
    bert_reads: str  # the input and the output of BERT's new layer
    gpt_reads: str  # the same of GPT; "" where the paper has no such task
    t5: str  # the form, its texts as {0}, {1}, …
    target: str  # the text that T5 is trained to write for the example
    t5_own: bool = True  # the very form of the paper; else one of this page, in its manner
    t5_note: str = ""  # a note on the form of the target, if it needs one


@dataclass(frozen=True)
class Piece:
    """A stretch of an input: a special token, or a text of the reader."""

    text: str
    field: int | None  # which of the task's texts; None for a special token


TASKS: dict[str, Task] = {
    "classification": Task(
        "Classification", ("sentence",), ("a visually stunning rumination on love",),
        "the state of [CLS] and outputs one logit per class",
        "the last state of ⟨extract⟩ and outputs one logit per class",
        "sst2 sentence: {0}", "positive",
    ),
    "entailment": Task(
        "Entailment", ("premise", "hypothesis"),
        ("A girl in a red coat is feeding the ducks in the park.", "A child is outdoors."),
        "the state of [CLS] and outputs one logit per class: entailment, neutral, contradiction",
        "the last state of ⟨extract⟩ and outputs one logit per class: entailment, neutral, contradiction",
        "mnli hypothesis: {1} premise: {0}", "entailment",
    ),
    "similarity": Task(
        "Similarity and paraphrase", ("sentence 1", "sentence 2"),
        ("The bus was late again this morning.", "This morning, the bus did not come on time again."),
        "the state of [CLS] and outputs two logits: same meaning, or not",
        BOTH_ORDERS,
        "mrpc sentence1: {0} sentence2: {1}", "equivalent",
    ),
    "score": Task(
        "Similarity score", ("sentence 1", "sentence 2"),
        ("The bus was late again this morning.", "This morning, the bus did not come on time again."),
        "the state of [CLS] and outputs one number, the score",
        BOTH_ORDERS,
        "stsb sentence1: {0} sentence2: {1}", "5.0",
        t5_note="The score, here from 1 to 5, is rounded to the nearest 0.2 and written as text: one of 21 texts.",
    ),
    "choice": Task(
        "Multiple choice", ("beginning", "ending 1", "ending 2"),
        ("She put the kettle on the stove.", "She waited until the water boiled.", "She put it into her handbag."),
        "the state of [CLS] of each input and outputs one logit per ending; softmax over the endings follows",
        "the last state of ⟨extract⟩ of each input and outputs one logit per ending; softmax over the endings follows",
        "choice beginning: {0} ending1: {1} ending2: {2}", "ending1", t5_own=False,
    ),
    "question": Task(
        "Questions on a text", ("question", "text"),
        ("Where do I work?", "My name is Sylvain and I work at Hugging Face in Brooklyn"),
        "the state of each token of the text and outputs two logits for it: start and end of the answer",
        "",
        "question: {0} context: {1}", "Hugging Face",
    ),
    "names": Task(
        "Names", ("sentence",), ("Ada Lovelace lived in London.",),
        "the state of each word's first token and outputs one logit per label",
        "",
        "names in: {0}", "person: Ada Lovelace; place: London", t5_own=False,
    ),
}  # fmt: skip


def texts_of(task: Task, typed: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """(the task's texts, whether they are the reader's): the example where the reader has typed too few."""
    stripped = tuple(text.strip() for text in typed)[: len(task.fields)]
    own = len(stripped) == len(task.fields) and all(stripped)
    return (stripped if own else task.example), own


def gpt_inputs(name: str, texts: Sequence[str]) -> list[list[Piece]]:
    """Each input of GPT, as stretches: one, or two orders, or one an ending. Empty where the paper has no such task."""
    if not TASKS[name].gpt_reads:
        return []
    first = Piece(texts[0], 0)
    if name == "classification":
        return [_framed(first)]
    others = [Piece(text, number) for number, text in enumerate(texts[1:], start=1)]
    rows = [_framed(first, Piece(DELIMITER, None), other) for other in others]
    if TASKS[name].gpt_reads == BOTH_ORDERS:
        rows.append(_framed(others[0], Piece(DELIMITER, None), first))
    return rows


def _framed(*pieces: Piece) -> list[Piece]:
    return [Piece(START, None), *pieces, Piece(EXTRACT, None)]


def bert_inputs(tokenizer: Any, texts: Sequence[str], most: int) -> list[list[Piece]]:
    """Each input of BERT, token by token as the tokenizer cuts it, at most `most` tokens: one, or one an ending."""
    rows = []
    for number, other in enumerate(texts[1:], start=1) if len(texts) > 1 else [(0, "")]:
        encoding = encode(tokenizer, texts[0], other, most)
        fields = (0, number)
        rows.append(
            [
                Piece(token, None if side is None else fields[side])
                for token, side in zip(encoding.tokens, encoding.sequence_ids, strict=True)
            ]
        )
    return rows


def t5_text(task: Task, texts: Sequence[str]) -> str:
    """The text that T5 is given."""
    return task.t5.format(*texts)

"""Live pre-training in words: what is asked before and after, the batch that a step reads, the first step's program."""

from __future__ import annotations

import math
from collections.abc import Sequence

from demos.bert.pretraining.heads import Pretrained
from demos.lessons.pretraining.learn.program import learn_code
from demos.lessons.pretraining.learn.text_tables import (
    AskedRow,
    Change,
    ReadSequence,
    ReadToken,
    asked_html,
    batch_html,
    sentences_html,
)
from demos.training.pretraining.batches import Instance
from demos.training.pretraining.copies import Recipe
from demos.training.pretraining.learner import CLIP, DECAY, EPSILON
from demos.training.pretraining.live import Learned
from demos.training.pretraining.passage import Passage
from demos.training.pretraining.questions import Asked, Question

SHOWN_SEQUENCES = 4
WHY_TEXT = "next sentences take two sentences to train on."
WHY_MODEL = "this model has no next-sentence head."
FORGOT = "what it learns on one text costs it some of the rest"


def cut_told(found: Pretrained, passage: Passage) -> str:
    """How the text was cut, and why next sentences are not asked about where they are not (HTML)."""
    why = WHY_MODEL if found.relation is None else WHY_TEXT
    pairs = passage.has_pairs and found.relation is not None
    return sentences_html(len(passage.train), len(passage.held_out), pairs, why)


def random_told(event: Learned) -> list[Change]:
    """The held-out loss of the model from random weights; empty without one."""
    before, after = event.before_untrained, event.after_untrained
    if before is None or after is None:
        return []
    return [Change("held out, from random weights", before.own, after.own)]


def said_told(event: Learned) -> str:
    """What the end of a press tells who cannot see the curve."""
    if math.isnan(event.before.own):
        return ""
    return f"On the held-out sentences the loss went from {event.before.own:.2f} to {event.after.own:.2f}."


def asked_told(
    found: Pretrained,
    passage: Passage,
    asked: Sequence[Question],
    before: Asked,
    after: Asked | None,
    more: Sequence[Change],
) -> str:
    """The guesses at the hidden words before and, where there is one, after a press; then the mean losses (HTML)."""
    names = found.tokenizer.convert_ids_to_tokens([one.answer for one in asked])
    answers = after.answers if after is not None else [None] * len(asked)
    rows = [
        AskedRow(one.before, one.after, name, one.own, bool(passage.held_out), was, now)
        for one, name, was, now in zip(asked, names, before.answers, answers, strict=True)
    ]
    losses = [
        Change("Loss of the held-out words", before.own, after.own if after else None),
        Change("of general English", before.general, after.general if after else None, FORGOT),
        *more,
    ]
    return asked_html(rows, losses, found.tokenizer.mask_token)


def batch_told(found: Pretrained, instances: Sequence[Instance], step: int, event: Learned | None) -> str:
    """The first sequences of a step as it reads them, each asked token with its guess and loss (HTML)."""
    names = found.tokenizer.convert_ids_to_tokens
    guesses = iter(zip(event.last.guesses, event.last.each, strict=True)) if event is not None else None
    shown = []
    for one in instances[:SHOWN_SEQUENCES]:
        corruption, tokens = one.corruption, []
        for token, kind, label in zip(
            names(corruption.input_ids.tolist()), corruption.kinds.tolist(), corruption.labels.tolist(), strict=True
        ):
            guess, loss = next(guesses) if kind and guesses is not None else (None, math.nan)
            truth = names(label) if kind else ""
            tokens.append(ReadToken(token, kind, truth, names(guess) if guess is not None else "", loss))
        shown.append(ReadSequence(tokens, one.following))
    return batch_html(shown, step, len(instances) - len(shown))


def code_told(found: Pretrained, instances: Sequence[Instance], recipe: Recipe) -> str:
    """The first step as a program."""
    return learn_code(
        found.encoder.spec,
        [one.corruption.input_ids.tolist() for one in instances],
        [list(one.segments) for one in instances],
        [one.corruption.labels.tolist() for one in instances],
        [one.following for one in instances if one.following is not None],
        recipe.rate,
        CLIP,
        DECAY,
        EPSILON,
    )

"""Live pre-training in words and tables: guesses before and after, moved words, the batch of a step (HTML)."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from demos.bert.encoder.size import Shape
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.original_run import costs, fine_tuning_operations, seconds_here
from demos.figures.token_chips import visible
from demos.lessons.pretraining.figure_kinds import MARKS
from demos.lessons.pretraining.learn.figure import NOWHERE, THERE, groups
from demos.templates import templates
from demos.training.pretraining.batches import Instance
from demos.training.pretraining.live import Learned
from demos.training.pretraining.passage import Passage
from demos.training.pretraining.probes import ProbeResult, Question
from demos.training.pretraining.rows import Rows

TEXT = templates(__file__)
SHOWN_SEQUENCES = 4
TOP_ROWS = 15
A_YEAR = 365.25 * 24 * 3600  # seconds


def cut_html(pretrained: Pretrained, passage: Passage) -> str:
    """The split of the text, and the reason if next sentences are not predicted (HTML)."""
    has_head = pretrained.relation is not None
    return TEXT.cut(len(passage.train), len(passage.held_out), passage.has_pairs and has_head, has_head)


def loss_summary(event: Learned) -> str:
    """The sentence at the end of a press for readers who cannot see the curve."""
    if math.isnan(event.before.own):
        return ""
    return f"The loss on the held-out sentences went from {event.before.own:.2f} to {event.after.own:.2f}."


def guesses_html(
    pretrained: Pretrained,
    passage: Passage,
    questions: Sequence[Question],
    before: ProbeResult,
    event: Learned | None = None,
) -> str:
    """The guesses for the masked words before and, if there was one, after a press; then the mean losses (HTML)."""
    after = event.after if event else None
    words = pretrained.tokenizer.convert_ids_to_tokens([question.answer for question in questions])
    answers = after.answers if after else [None] * len(questions)
    losses = [
        {"name": "Loss on held-out words", "before": before.own, "after": after and after.own, "general": False},
        {"name": "on general English", "before": before.general, "after": after and after.general, "general": True},
    ]
    if event and event.before_untrained and event.after_untrained:
        begun, ended = event.before_untrained.own, event.after_untrained.own
        losses.append(
            {"name": "on held-out words, from random weights", "before": begun, "after": ended, "general": False}
        )
    return TEXT.guesses(
        rows=[
            {"question": question, "word": word, "before": was, "after": now}
            for question, word, was, now in zip(questions, words, before.answers, answers, strict=True)
        ],
        changes=losses,
        mask=pretrained.tokenizer.mask_token,
        trained=after is not None,
        held_out=bool(passage.held_out),
        visible=visible,
    )


def rows_html(rows: Rows, steps: int, step: int, limit: float) -> str:
    """The number of rows moved in these `steps`, the last of which is number `step`, and each group's median distance.

    In a copy's very first step none moves farther than `limit`, the learning rate × √d.
    """
    members = groups(rows)
    there, nowhere = (
        float(np.median(rows.moved[members[name]])) if members[name].any() else None for name in (THERE, NOWHERE)
    )
    far = far_first(rows.moved)
    return TEXT.rows(
        moved=(rows.moved > 0).sum(),
        total=len(rows.moved),
        in_input=(rows.in_input > 0).sum(),
        there=there,
        nowhere=nowhere,
        steps=steps,
        step=step,
        first_limit=limit,
        far=len(far),
        absent=members[NOWHERE][far].sum(),
    )


def top_rows_html(tokenizer: Any, rows: Rows, count: int = TOP_ROWS) -> str:
    """The words whose embeddings moved farthest, with the causes."""
    far = far_first(rows.moved, count)
    norms = (rows.gradient, rows.by_input, rows.by_decoder)
    words = [
        {
            "token": visible(token),
            "moved": rows.moved[at],
            "in_input": rows.in_input[at],
            "as_answer": rows.as_answer[at],
            "wrongly": rows.wrongly[at],
            "gradients": [norm[at] for norm in norms if norm is not None],
        }
        for token, at in zip(tokenizer.convert_ids_to_tokens(far.tolist()), far, strict=True)
    ]
    return TEXT.top(words, rows.gradient is not None)


def far_first(moved: np.ndarray, count: int = TOP_ROWS) -> np.ndarray:
    """The rows that moved farthest, the farthest first."""
    return np.argsort(-moved, kind="stable")[:count]


def batch_html(pretrained: Pretrained, instances: Sequence[Instance], step: int, event: Learned | None = None) -> str:
    """The first sequences of a step's input, each chosen token with its guess and loss (HTML)."""
    guesses = iter(zip(event.last.guesses, event.last.each, strict=True)) if event else None
    sequences = [
        {"tokens": list(_tokens(pretrained.tokenizer, instance, guesses)), "following": instance.following}
        for instance in instances[:SHOWN_SEQUENCES]
    ]
    return TEXT.batch(sequences, step, len(instances) - len(sequences), MARKS, visible)


def _tokens(
    tokenizer: Any, instance: Instance, guesses: Iterator[tuple[int, float]] | None
) -> Iterator[dict[str, str | float]]:
    """BERT's input at each position; for a chosen one also the original token, and the guess with its loss if any."""
    names, corruption = tokenizer.convert_ids_to_tokens, instance.corruption
    read = names(corruption.input_ids.tolist())
    for token, kind, label in zip(read, corruption.kinds.tolist(), corruption.labels.tolist(), strict=True):
        guess, loss = next(guesses) if kind and guesses else (None, math.nan)
        yield {
            "read": token,
            "kind": kind,
            "truth": names(label) if kind else "",
            "guess": "" if guess is None else names(guess),
            "loss": loss,
        }


def original_html(title: str, trained: Shape, tokens: int, seconds: float, measured: bool) -> str:
    """The time of BERT's own pre-training here, where a step of `trained` reads so many tokens in `seconds`."""
    base, large = (seconds_here(cost.operations, trained, tokens, seconds) / A_YEAR for cost in costs())
    tuned = seconds_here(fine_tuning_operations(costs()[0].shape), trained, tokens, seconds)
    return TEXT.original(
        {
            "title": title,
            "measured": TEXT.measured(measured),
            "rate": tokens / seconds,
            "base": TEXT.years(base),
            "large": TEXT.years(large),
            "fine_tuned": TEXT.hours(tuned / 3600),
        }
    )

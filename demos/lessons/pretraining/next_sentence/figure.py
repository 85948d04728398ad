"""Does B come next: the answer, the two sentences as one input, and four inputs side by side (HTML)."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.model.encoding import Encoding
from demos.bert.pretraining.next_sentence import LABELS
from demos.figures.numbers import percent
from demos.figures.short_text import short_html
from demos.figures.tables import column_heads, scrolling_table
from demos.figures.token_chips import token_label

SHOWN = 64  # tokens of a drawn input
CUT = 110  # characters of an input in the table of cases


@dataclass(frozen=True)
class Case:
    """One way to put an input together, and what the model says of it."""

    name: str
    label: int  # what it would be labelled in pre-training
    encoding: Encoding
    logits: np.ndarray  # <float32>[2]: IsNext, NotNext; the three below have the same order
    probabilities: np.ndarray
    losses: np.ndarray

    @property
    def is_next(self) -> float:
        """The probability of IsNext."""
        return float(self.probabilities[0])


def answer_html(case: Case) -> str:
    """Both labels: probability as a bar, logit, and the loss where this label is the true one."""
    rows = "".join(
        f'<tr class="{name.lower()}"><th scope="row">{name}</th>'
        f'<td class="next-bar">{bar(float(probability))}</td><td><b>{percent(float(probability))}</b></td>'
        f"<td>{signed(logit)}</td><td>{loss:.3f}</td></tr>"
        for name, probability, logit, loss in zip(LABELS, case.probabilities, case.logits, case.losses, strict=True)
    )
    return (
        '<table class="next-answer"><thead><tr><td></td><th scope="col" colspan="2">probability</th>'
        '<th scope="col">logit</th><th scope="col">loss if true</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def signed(logit: float) -> str:
    """A logit with its sign, two digits behind the point."""
    return f"{logit:+.2f}".replace("-", "−")


def bar(share: float) -> str:
    """A track with this share of it filled."""
    return f'<span class="next-track"><span style="width:{100 * min(1.0, share):.2f}%"></span></span>'


def sequence_html(encoding: Encoding, label: str, chosen: Collection[int] = (), *, bare: bool = False) -> str:
    """[CLS] A [SEP] B [SEP], token by token, in the colours of the segments; below each its segment and position.

    `label` is what the list is called aloud; `chosen` tokens are outlined; `bare` leaves out what stands below.
    """
    items = []
    for position, token in enumerate(encoding.tokens[:SHOWN]):
        segment = "ab"[encoding.token_type_ids[position]]
        kinds = ["seg", segment]
        kinds += ["special"] if encoding.special_tokens_mask[position] else []
        kinds += ["chosen"] if position in chosen else []
        below = "" if bare else f"<span>{segment.upper()}</span><span>{position}</span>"
        items.append(f'<li class="{" ".join(kinds)}"><b>{token_label(token)}</b>{below}</li>')
    rest = len(encoding) - SHOWN
    more = f'<p class="aside">… and {rest} more tokens.</p>' if rest > 0 else ""
    names = (
        ""
        if bare
        else '<li class="names" aria-hidden="true"><b>token</b><span>segment</span><span>position</span></li>'
    )
    kind = "next-sequence bare" if bare else "next-sequence"
    return f'<ol class="{kind}" aria-label="{html.escape(label)}">{names}{"".join(items)}</ol>{more}'


def cases_html(cases: Sequence[Case], chosen: int) -> str:
    """All inputs side by side, the one on show marked: what is read, its label, the probability of IsNext, the loss."""
    rows = "".join(
        f'<tr{" class=shown" if number == chosen else ""}><th scope="row">{html.escape(case.name)}</th>'
        f'<td class="next-text wide"><span class="a">{short_html(case.encoding.text, CUT // 2)}</span> '
        f'<span class="b">{short_html(case.encoding.text_pair, CUT // 2)}</span></td>'
        f'<td class="next-bar">{bar(case.is_next)}</td><td><b>{percent(case.is_next)}</b></td>'
        f"<td>{LABELS[case.label]}</td><td>{case.losses[case.label]:.3f}</td></tr>"
        for number, case in enumerate(cases)
    )
    head = (
        '<th scope="col">B is</th><th scope="col" class="wide">what the model reads</th>'
        '<th scope="col" colspan="2">IsNext</th><th scope="col">label</th><th scope="col">its loss</th>'
    )
    return (
        '<div class="next-scroll" tabindex="0" role="region" aria-label="Four inputs side by side">'
        f'<table class="next-cases"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def numbers_html(cases: Sequence[Case], chosen: int) -> str:
    """Every logit, probability and loss, then the input on show token by token."""
    names = ("", *(f"{what}, {label}" for what in ("logit", "probability", "loss") for label in LABELS))
    rows = "".join(
        f'<tr><th scope="row">{html.escape(case.name)}</th>'
        + "".join(f"<td>{value:+.4f}</td>" for value in case.logits)
        + "".join(f"<td>{value:.5f}</td>" for value in case.probabilities)
        + "".join(f"<td>{value:.5f}</td>" for value in case.losses)
        + "</tr>"
        for case in cases
    )
    encoding = cases[chosen].encoding
    tokens = "".join(
        f'<tr><th scope="row">{position}</th><td>{token_label(token)}</td><td>{number}</td><td>{segment}</td></tr>'
        for position, (token, number, segment) in enumerate(
            zip(encoding.tokens, encoding.input_ids, encoding.token_type_ids, strict=True)
        )
    )
    return scrolling_table("What the model says of the four inputs", column_heads(names), rows) + scrolling_table(
        "The input on show", column_heads(("position", "token", "id", "segment (token_type_ids)")), tokens
    )

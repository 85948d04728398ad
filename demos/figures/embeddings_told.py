"""The Embeddings lesson's figures in words, for everyone and for those who can't see them (HTML, escaped)."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from demos.bert.catalogue import CATALOGUE, ModelSpec
from demos.bert.embeddings import Disagreement
from demos.bert.encoding import Encoding
from demos.bert.pooling import CONCAT_LAST_FOUR, POOLER, SUM_ALL, SUM_LAST_FOUR, Choice
from demos.figures.embeddings import rounded, short
from demos.figures.palette import PALETTE

POOLING_NAMES = {"cls": "[CLS]", "mean": "mean", "mean_no_special": "mean of words", "max": "max", POOLER: "pooler"}
LAYER_NAMES: dict[int | str, str] = {
    SUM_ALL: "sum of all layers",
    SUM_LAST_FOUR: "sum of the last four layers",
    CONCAT_LAST_FOUR: "last four layers side by side",
}
HOW = {
    "cls": "The first token's vector is taken, the others are dropped.",
    "mean": "The average of all {used} tokens, [CLS] and [SEP] among them.",
    "mean_no_special": "The average of {used} tokens, without [CLS] and [SEP].",
    "max": "Each of the {width:,} numbers is the largest that any token has there.",
}
SHOWN_NUMBERS = 6
SHOWN_PAIRS = 200


def choice_name(choice: Choice, deepest: int) -> str:
    """ "mean, last hidden layer (6)", as the page speaks of a choice."""
    where: dict[int | str, str] = {0: "embedding output (0)", deepest: f"last hidden layer ({deepest})", **LAYER_NAMES}
    return f"{POOLING_NAMES[choice.pooling]}, {where.get(choice.layer, f'layer {choice.layer} of {deepest}')}"


def tuned_for(spec: ModelSpec) -> str:
    """Which pooling this model was trained for, in one sentence; "" for a model this project knows nothing of."""
    if spec.key not in CATALOGUE:
        return ""
    if not spec.hub_id:
        return "MiniLM was tuned on sentence pairs with mean pooling: its [CLS] was never asked to be the sentence."
    if spec.nsp:
        return (
            f"{spec.title} was never tuned to compare sentences: its [CLS] learned to answer whether two "
            "sentences follow each other, and no training asked its mean for anything."
        )
    return f"{spec.title} was never tuned to compare sentences: neither its [CLS] nor its mean."


def shape_html(title: str, encoding: Encoding, width: int, choice: Choice, weights: np.ndarray) -> str:
    """The shapes for one sentence and a model of this width, and which tokens go into the vector (`weights`, [n])."""
    n = len(encoding)
    how = HOW[choice.pooling].format(used=int((weights > 0).sum()), width=width)
    return (
        f"<h3>{html.escape(title)}</h3>"
        f'<p class="shape"><b>{n} tokens × {width:,} = {n * width:,} numbers</b> → <b>{width:,} numbers</b></p>'
        f'{pooled_tokens(encoding, weights)}<p class="shape how">{html.escape(how)}</p>'
    )


def sentence_html(encoding: Encoding) -> str:
    """How many words and tokens the sentence has, and what did not fit."""
    words = len(encoding.text.split())
    cut = f"; {len(encoding.dropped):,} more did not fit" if encoding.dropped else ""
    return (
        f"<p>“{html.escape(short(encoding.text, 90))}”: {words:,} word{'s' * (words != 1)}, "
        f"<b>{len(encoding)} tokens</b> with [CLS] and [SEP]{cut}.</p>"
    )


def pooled_tokens(encoding: Encoding, weights: np.ndarray) -> str:
    """The tokens in an ordered list, under each a bar as long as its share [n] of the pooled vector."""
    most = float(weights.max()) or 1.0
    chips = []
    for token, word, weight in zip(encoding.tokens, encoding.word_index, weights, strict=True):
        hue = "var(--special)" if word is None else f"var(--word-{word % len(PALETTE['words'])})"
        kind = "" if weight > 0 else ' class="out"'
        share = f"{weight:.1%} of the vector" if weight > 0 else "left out"
        chips.append(
            f'<li{kind} style="--hue:{hue};--share:{weight / most:.3f}" title="{share}">{html.escape(token)}</li>'
        )
    return f'<ol class="pooled" tabindex="0" aria-label="Tokens that are pooled">{"".join(chips)}</ol>'


def explained_html(title: str, explained: np.ndarray) -> str:
    """How much of the sentences' differences the map can show."""
    k = len(explained)
    return (
        f"<h3>{html.escape(title)}</h3>"
        f'<p class="aside">These {k} axes hold <b>{explained.sum():.0%}</b> of what varies between the sentences '
        f"({' + '.join(f'{share:.0%}' for share in explained)}).</p>"
    )


def compared_html(
    pairs: Sequence[Disagreement], sentences: Sequence[str], names: Sequence[str], spec: ModelSpec
) -> str:
    """What the two matrices say against each other, in two sentences, and what the model was tuned for."""
    widest = pairs[0]
    first, second = (html.escape(short(sentences[k], 60)) for k in (widest.i, widest.j))
    averages = [float(np.mean([getattr(pair, side) for pair in pairs])) for side in ("first", "second")]
    return (
        f"<p>A and B disagree most about <b>{widest.i + 1}</b> “{first}” and <b>{widest.j + 1}</b> “{second}”: "
        f"cosine <b>{rounded(widest.first)}</b> by A ({names[0]}), "
        f"<b>{rounded(widest.second)}</b> by B ({names[1]}).</p>"
        f'<p class="aside">The average over all pairs ({len(pairs):,}) is {rounded(averages[0])} by A and '
        f"{rounded(averages[1])} by B. {html.escape(tuned_for(spec))}</p>"
    )


def numbers_html(
    vectors: Sequence[np.ndarray], pairs: Sequence[Disagreement], sentences: Sequence[str], names: Sequence[str]
) -> str:
    """Two tables: how each vector begins under A and B, and the cosine of every pair."""
    heads = "".join(f'<th scope="col">{k + 1}</th>' for k in range(SHOWN_NUMBERS))
    parts = []
    for letter, name, rows in zip("AB", names, vectors, strict=True):
        lines = "".join(
            f'<tr><td class="sentence">{i + 1} {html.escape(short(sentence, 40))}</td>'
            + "".join(f"<td>{value:.4f}</td>" for value in row[:SHOWN_NUMBERS])
            + f"<td>{np.linalg.norm(row):.3f}</td></tr>"
            for i, (sentence, row) in enumerate(zip(sentences, rows, strict=True))
        )
        parts.append(
            f"<table><caption>{letter}: {name}. The first {SHOWN_NUMBERS} of {rows.shape[1]:,} numbers, and the length"
            f'</caption><thead><tr><th scope="col" class="sentence">sentence</th>{heads}<th scope="col">length</th>'
            f"</tr></thead><tbody>{lines}</tbody></table>"
        )
    lines = "".join(
        f'<tr><td class="sentence">{pair.i + 1} {html.escape(short(sentences[pair.i], 40))}</td>'
        f'<td class="sentence">{pair.j + 1} {html.escape(short(sentences[pair.j], 40))}</td>'
        f"<td>{pair.first:.4f}</td><td>{pair.second:.4f}</td><td>{pair.second - pair.first:+.4f}</td></tr>"
        for pair in pairs[:SHOWN_PAIRS]
    )
    more = f" (the first {SHOWN_PAIRS} of {len(pairs):,})" if len(pairs) > SHOWN_PAIRS else ""
    parts.append(
        f"<table><caption>Cosine of every pair, the widest gap first{more}</caption><thead><tr>"
        + '<th scope="col" class="sentence">sentence</th>' * 2
        + "".join(f'<th scope="col">{head}</th>' for head in ("by A", "by B", "B - A"))
        + f"</tr></thead><tbody>{lines}</tbody></table>"
    )
    return "".join(
        f'<div class="lesson-table" tabindex="0" role="region" aria-label="Numbers {k + 1}">{part}</div>'
        for k, part in enumerate(parts)
    )

"""The Embeddings lesson's figures in words, for everyone and for those who can't see them (HTML, escaped)."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from demos.bert.embeddings.pooling import (
    CONCAT_LAST_FOUR,
    POOLER,
    SUM_ALL,
    SUM_LAST_FOUR,
    Choice,
    dimension,
    layers_used,
)
from demos.bert.embeddings.search import ranks
from demos.bert.embeddings.sentence_vectors import Disagreement
from demos.bert.model.catalogue import CATALOGUE, ModelSpec
from demos.bert.model.encoding import Encoding
from demos.figures.cosines import rounded, short
from demos.figures.palette import PALETTE
from demos.figures.ranked_lists import Hit, Ranking, ranked_html

OVERLAP = (
    "If these pairs are STS-B’s: some are captions of photos, and <b>captions of photos are among this model’s "
    "training pairs</b>, so part of the agreement may be memory."
)
POOLING_NAMES = {"cls": "[CLS]", "mean": "mean", "mean_no_special": "mean of words", "max": "max", POOLER: "pooler"}
LAYER_NAMES: dict[int | str, str] = {
    SUM_ALL: "sum of all layers",
    SUM_LAST_FOUR: "sum of the last four layers",
    CONCAT_LAST_FOUR: "last four layers side by side",
}
HOW = {
    "cls": "only the first token's, [CLS]",
    "mean": "the average of all {used} tokens, [CLS] and [SEP] among them",
    "mean_no_special": "the average of {used} tokens, without [CLS] and [SEP]",
    "max": "each of the {width:,} numbers is the largest that any token has there",
}
SHOWN_NUMBERS = 6
SHOWN_PAIRS = 200
LISTED_PAIRS = 5
LISTED_NEIGHBOURS = 8
NEARLY_SAME = 0.99  # a cosine


def choice_name(choice: Choice, deepest: int) -> str:
    """ "mean, last hidden layer (6)", as the page speaks of a choice."""
    where: dict[int | str, str] = {0: "embedding output (0)", deepest: f"last hidden layer ({deepest})", **LAYER_NAMES}
    return f"{POOLING_NAMES[choice.pooling]}, {where.get(choice.layer, f'layer {choice.layer} of {deepest}')}"


def tuned_for(spec: ModelSpec) -> str:
    """Which pooling this model was trained for, in one sentence; "" for a model this project knows nothing of."""
    if spec.key not in CATALOGUE:
        return ""
    if not spec.hub_id:
        return (
            "MiniLM was tuned on sentence pairs with mean pooling: its [CLS] was not trained to stand for the "
            "sentence. So what you see here is not what an un-tuned BERT does."
        )
    if spec.nsp:
        return (
            f"{spec.title} was never tuned to compare sentences: its [CLS] learned to answer whether two "
            "sentences follow each other, and no training asked its mean for anything."
        )
    return f"{spec.title} was never tuned to compare sentences: neither its [CLS] nor its mean."


def how_html(encoding: Encoding, choice: Choice, num_layers: int, width: int) -> str:
    """How this choice makes one vector of a sentence's tokens, and its dimension: "8 tokens × 384 = ..."."""
    n, size = len(encoding), dimension(choice, num_layers, width)
    used = layers_used(choice.layer, num_layers)
    if choice.pooling == POOLER:
        came, how = (
            f"[CLS] of the last layer: {width:,} numbers",
            (f"The pooler, a trained {width:,} × {width:,} matrix and a tanh, turns [CLS] into the vector."),
        )
    else:
        wide = f"({len(used)} × {width:,})" if size > width else f"{width:,}"
        came = f"{n} tokens × {wide} = {n * size:,} numbers"
        kept = n - sum(encoding.special_tokens_mask) if choice.pooling == "mean_no_special" else n
        pooled = HOW[choice.pooling].format(used=kept, width=size)
        how = f"{_states(choice.layer, used, num_layers)} Then {pooled}."
    return f'<p class="shape"><b>{came}</b> → <b>{size:,} numbers</b></p><p class="shape how">{html.escape(how)}</p>'


def _states(layer: int | str, used: Sequence[int], num_layers: int) -> str:
    """Which vectors of the tokens are pooled, in a sentence."""
    span = f"layers {used[0]} to {used[-1]}" if len(used) > 1 else f"layer {used[0]}"
    if layer == CONCAT_LAST_FOUR:
        return f"Each token's vectors of {span}, side by side."
    if layer in (SUM_ALL, SUM_LAST_FOUR):
        return f"Each token's vectors of {span}, added up."
    if layer == 0:
        return "Each token's vector before the first layer: word, position and segment, no context yet."
    return f"Each token's vector after layer {layer}{', the last' if layer == num_layers else ''}."


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


def compared_html(pairs: Sequence[Disagreement], spec: ModelSpec) -> str:
    """What the two matrices say against each other, in a sentence, and what the model was tuned for."""
    averages = [float(np.mean([getattr(pair, side) for pair in pairs])) for side in ("first", "second")]
    told = f"{len(pairs):,} pairs, average" if len(pairs) > 1 else "One pair,"
    lows = {letter: min(getattr(pair, side) for pair in pairs) for letter, side in (("A", "first"), ("B", "second"))}
    alike = [letter for letter, low in lows.items() if low > NEARLY_SAME]
    same = (
        f"By {' and '.join(alike)} every cosine lies above {NEARLY_SAME}: all these sentences have nearly the same "
        "vector. "
        if alike
        else ""
    )
    return (
        f"<p>{told} cosine <b>{rounded(averages[0])}</b> by A and <b>{rounded(averages[1])}</b> by B. {same}"
        f"{html.escape(tuned_for(spec))}</p>"
    )


def pairs_html(pairs: Sequence[Disagreement], sentences: Sequence[str]) -> str:
    """The pairs on which A and B disagree most, each with its two cosines as bars; the first is the framed one."""
    rows = []
    for pair in pairs[:LISTED_PAIRS]:
        named = "".join(
            f"<span><b>{at + 1}</b> {html.escape(short(sentences[at], 90))}</span>" for at in (pair.i, pair.j)
        )
        bars = "".join(
            f'<span class="cosine" style="--share:{max(0.0, value):.3f}"><b>{letter}</b><i></i>{rounded(value)}</span>'
            for letter, value in (("A", pair.first), ("B", pair.second))
        )
        rows.append(f'<li><div class="two">{named}</div><div class="bars">{bars}</div></li>')
    return f'<ol class="pairs">{"".join(rows)}</ol>'


def neighbours_html(
    cosines: Sequence[np.ndarray], sentences: Sequence[str], index: int, names: Sequence[str]
) -> tuple[str, str]:
    """(what the lists say, the lists): the other sentences by their cosine with `index`, under A and under B.

    Those whose rank changes most are marked.
    """
    others = [at for at in range(len(sentences)) if at != index]
    places = [dict(zip(others, ranks(cosine[index, others]).tolist(), strict=True)) for cosine in cosines]
    most = max(abs(places[0][at] - places[1][at]) for at in others)
    moved = {at for at in others if most and abs(places[0][at] - places[1][at]) == most}
    lists = []
    for k, (letter, other) in enumerate((("A", "B"), ("B", "A"))):
        order = sorted(others, key=places[k].__getitem__)[:LISTED_NEIGHBOURS]
        hits = [
            Hit(
                key=at,
                sentence=f"{at + 1} {sentences[at]}",
                score=float(cosines[k][index, at]),
                elsewhere=f"{other} {places[1 - k][at]}",
                moved=at in moved,
            )
            for at in order
        ]
        lists.append(Ranking(f"By {letter}", f"<h4>{letter}: {html.escape(names[k])}</h4>", hits))
    first = [min(others, key=place.__getitem__) for place in places]
    told = (
        f"Nearest by both: {_quoted(sentences, first[0])}."
        if first[0] == first[1]
        else f"Nearest by A: {_quoted(sentences, first[0])}; by B: {_quoted(sentences, first[1])}."
    )
    if most:
        at = min(moved)
        told += f" {_quoted(sentences, at)} moves most, from place {places[0][at]} by A to place {places[1][at]} by B."
    else:
        told += " A and B put them all in the same order."
    return f"<p>{told}</p>", ranked_html(lists, min(LISTED_NEIGHBOURS, len(others)))


def _quoted(sentences: Sequence[str], at: int) -> str:
    return f"<b>{at + 1}</b> “{html.escape(short(sentences[at], 50))}”"


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

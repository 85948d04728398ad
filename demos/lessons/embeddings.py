"""Lesson: one vector for a whole sentence, by pooling and layer, two choices side by side."""

from __future__ import annotations

import csv
import html
from collections.abc import Sequence
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings import (
    MAX_SENTENCES,
    Choice,
    Disagreement,
    cosine_matrix,
    disagreements,
    embed,
    project,
    resolve_layer,
    sentences_of,
    token_weights,
)
from demos.bert.models import LoadedModel
from demos.bert.run import Run
from demos.errors import UserError
from demos.figures.embeddings import cosine_heatmap, pooled_tokens, sentence_map, short
from demos.page.assets import read_asset
from demos.page.lesson import Lesson, Page
from demos.page.services import Sentence, Services

LAST = "last"
POOLING_NAMES = {"cls": "[CLS]", "mean": "mean", "mean_no_special": "mean of the words only", "max": "max"}
HOW = {
    "cls": "the first token's vector is taken, the others are dropped",
    "mean": "the average of all {used} tokens, [CLS] and [SEP] among them",
    "mean_no_special": "the average of {used} tokens, without [CLS] and [SEP]",
    "max": "each of the {width} numbers is the largest that any token has there",
}
SHOWN_NUMBERS = 6
SHOWN_PAIRS = 200
FORMULA = r"""
A layer gives every token $i$ of a sentence with $n$ tokens a vector $h_i$ with $d$ numbers.

$$
v_{\text{[CLS]}} = h_1 \qquad
v_{\text{mean}} = \frac{1}{n}\sum_{i=1}^{n} h_i \qquad
v_{\text{max}} = \Big(\max_i h_{i1}, \dots, \max_i h_{id}\Big) \qquad
\cos(v, w) = \frac{v \cdot w}{\lVert v\rVert\,\lVert w\rVert}
$$

*Mean of the words only* leaves [CLS] and [SEP] out of the sum. A cosine of 1 is the same direction, 0 a right angle,
-1 the opposite. The map is a PCA: it subtracts the mean of the sentences and turns the cloud so that the first axis
holds as much of the variance as one direction can, the second as much of the rest.
"""
SOURCE = """
- Nils Reimers and Iryna Gurevych (2019), *Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks*, EMNLP,
  section 3: the [CLS], mean and max strategies compared here, and why an untuned [CLS] does worse.
- Jacob Devlin, Ming-Wei Chang, Kenton Lee and Kristina Toutanova (2019), *BERT: Pre-training of Deep Bidirectional
  Transformers*, NAACL, section 3 ([CLS] for classification) and section 5.3 (features from different layers).
"""


def example_lists() -> dict[str, str]:
    """The lists that come with the lesson, each as lines for the text box."""
    lists: dict[str, list[str]] = {}
    reader = csv.DictReader(read_asset("data/sentences.tsv").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    for row in reader:
        lists.setdefault(row["list"], []).append(row["sentence"])
    return {name: "\n".join(lines) for name, lines in lists.items()}


def with_bar(sentence: Sentence, texts: str) -> tuple[list[str], int]:
    """The bar's sentence or two, then the list without repeating them; and how many came from the bar.

    Raises UserError for fewer than two sentences in all.
    """
    bar = [" ".join(text.split()) for text in (sentence.text, sentence.text_pair) if text.strip()]
    sentences = bar + [line for line in sentences_of(texts) if line not in bar]
    if len(sentences) < 2:
        raise UserError("Comparing takes at least two sentences; write one a line.")
    return sentences, len(bar)


def read_choice(loaded: LoadedModel, pooling: str, layer: str) -> Choice:
    """The menus' answers as a Choice. A layer that only a deeper model has becomes the last one."""
    deepest = loaded.model.config.num_hidden_layers
    if str(layer).isdecimal() and int(layer) > deepest:
        layer = LAST
    if layer == LAST:
        return Choice(pooling, deepest)
    return Choice(pooling, resolve_layer(int(layer) if str(layer).isdecimal() else layer, deepest))  # type: ignore[arg-type]


def layer_menu(loaded: LoadedModel, layer: str) -> Any:
    """The layer menu for this model; keeps "last" as such, so that it means the last one of the next model too."""
    deepest = loaded.model.config.num_hidden_layers
    kept = layer if str(layer).isdecimal() and int(layer) <= deepest else LAST
    return gr.update(choices=layer_choices(deepest), value=kept)


def layer_choices(deepest: int) -> list[tuple[str, str]]:
    """Last first, then every hidden state from the top down to the embedding output."""
    below = [(f"layer {layer}", str(layer)) for layer in range(deepest, 0, -1)]
    return [(f"last (layer {deepest})", LAST), *below, ("0: embedding output, before layer 1", "0")]


def choice_name(choice: Choice, deepest: int) -> str:
    """ "mean, last hidden layer (6)", as the page speaks of a choice."""
    where = {0: "embedding output (0)", deepest: f"last hidden layer ({deepest})"}
    return f"{POOLING_NAMES[choice.pooling]}, {where.get(choice.layer, f'layer {choice.layer} of {deepest}')}"


def tuned_for(loaded: LoadedModel) -> str:
    """Which pooling this model was trained for, in one sentence."""
    if not loaded.spec.hub_id:
        return "MiniLM was tuned on sentence pairs with mean pooling: its [CLS] was never asked to be the sentence."
    if loaded.spec.nsp:
        return (
            f"{loaded.spec.title} was never tuned to compare sentences: its [CLS] learned to answer whether two "
            "sentences follow each other, and no training asked its mean for anything."
        )
    return f"{loaded.spec.title} was never tuned to compare sentences: neither its [CLS] nor its mean."


def shape_html(run: Run, choice: Choice) -> str:
    """The shapes for one sentence, and which of its tokens go into the vector."""
    n, width = run.hidden_states.shape[1:]
    weights = token_weights(run, choice)
    how = HOW[choice.pooling].format(used=int((weights > 0).sum()), width=width)
    return (
        f'<p class="shape"><b>{n} tokens × {width:,} = {n * width:,} numbers</b> → <b>{width:,} numbers</b></p>'
        f'{pooled_tokens(run.encoding, weights)}<p class="shape how">{html.escape(how[0].upper() + how[1:])}.</p>'
    )


def compared_html(
    pairs: Sequence[Disagreement], sentences: Sequence[str], names: tuple[str, str], loaded: LoadedModel
) -> str:
    """What the two matrices say against each other, in two sentences, and what the model was tuned for."""
    widest = pairs[0]
    first, second = (html.escape(short(sentences[k], 60)) for k in (widest.i, widest.j))
    averages = [np.mean([getattr(pair, side) for pair in pairs]) for side in ("first", "second")]
    return (
        f"<p>A and B disagree most about <b>{widest.i + 1}</b> “{first}” and <b>{widest.j + 1}</b> “{second}”: "
        f"cosine <b>{widest.first:.2f}</b> by A ({names[0]}), <b>{widest.second:.2f}</b> by B ({names[1]}).</p>"
        f'<p class="aside">Over all {len(pairs):,} pairs the cosine is {averages[0]:.2f} by A and '
        f"{averages[1]:.2f} by B on average. {html.escape(tuned_for(loaded))}</p>"
    )


def numbers_html(
    vectors: Sequence[np.ndarray], pairs: Sequence[Disagreement], sentences: Sequence[str], names: tuple[str, str]
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
            f'</caption><thead><tr><th scope="col">sentence</th>{heads}<th scope="col">length</th></tr></thead>'
            f"<tbody>{lines}</tbody></table>"
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
        + "".join(f'<th scope="col">{head}</th>' for head in ("sentence", "sentence", "by A", "by B", "B - A"))
        + f"</tr></thead><tbody>{lines}</tbody></table>"
    )
    return "".join(
        f'<div class="lesson-table" tabindex="0" role="region" aria-label="Numbers {k + 1}">{part}</div>'
        for k, part in enumerate(parts)
    )

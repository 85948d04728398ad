"""Many heads as one, in words: what was computed, what its rows sum to, and what one token is made of."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np

from demos.bert.attention.rollout import Aggregate, Recipe
from demos.bert.model.run import Run
from demos.figures.download_names import rounded
from demos.figures.palette import word_colour
from demos.templates import templates

TEXT = templates(__file__)
SOURCES = 8  # the strongest sources that are listed
NOTES = {
    "heads": (
        "A maximum shows what any head looks at; it is no distribution: with nothing left out, a row sums to 1 or more."
    ),
    "layers": "Head {head} of one layer and head {head} of the next share a number and nothing else.",
    "rollout": (
        "Rollout uses the weights alone. It leaves out the values that are mixed and the feed-forward network, and the "
        "share that stays is assumed, not measured."
    ),
}


def told(recipe: Recipe, made: Aggregate, run: Run) -> str:
    """One sentence (plain text) that says what was computed, and what the rows sum to."""
    steps = [_what(recipe, run)]
    if recipe.words:
        steps.append("word by word (to a split word the sum of its pieces, from it their mean)")
    if recipe.specials != "show":
        names = dict.fromkeys(
            token for token, mark in zip(run.encoding.tokens, run.encoding.special_tokens_mask, strict=True) if mark
        )
        scaled = "the rest of each row scaled up to 1" if recipe.specials == "renormalise" else "not renormalised"
        steps.append(f"{' and '.join(names)} hidden, {scaled}")
    if recipe.quarter != "all" and run.encoding.sentence_b_start is not None:
        side = f"{_side(recipe.quarter[0])} to {_side(recipe.quarter[-1])}"
        steps.append(f"only from {side}, cut from the whole and not renormalised")
    return f"{', '.join(steps)}: {sums_told(made.sums)}."


def sums_told(sums: np.ndarray) -> str:
    """ "every row sums to 1", or what rows sum to on average, and between what."""
    if np.abs(sums - 1).max() < 5e-4:
        return "every row sums to 1"
    low, high = f"{sums.min():.2f}", f"{sums.max():.2f}"
    if low == high:
        return f"every row sums to {low}"
    return f"rows sum to {sums.mean():.2f} on average, from {low} to {high}"


def note(recipe: Recipe, stays: float | None = None) -> str:
    """What to bear in mind with this way of joining heads (plain text); empty where there is nothing.

    `stays` is the share of a token that stays itself in the recipe's layer, measured in lengths.
    """
    if recipe.what.endswith("-max"):
        return NOTES["heads"] + (" " + NOTES["layers"].format(head=recipe.head) if "layers" in recipe.what else "")
    over = recipe.what.split("-")[0]
    said = NOTES[over].format(head=recipe.head) if over in {"layers", "rollout"} else ""
    if over == "rollout" and stays is not None:
        said += (
            f" Measured by the lengths of the vectors that are added, {stays:.0%} of a token stays in layer "
            f"{recipe.layer}, on average over this input (Kobayashi et al. 2021)."
        )
    return said


def sources_html(made: Aggregate, place: int, recipe: Recipe, beside: Aggregate | None = None) -> str:
    """The strongest entries of row `place` as a list of bars; `beside` puts another matrix' same row next to it.

    `beside` is cut and named as `made` is: for a rollout, the mean of its last layer alone.
    """
    row, other = made.values[place], beside.values[place] if beside else None
    order = np.argsort(-row, kind="stable")[:SOURCES]
    columns = made.columns
    bars = [
        {
            "name": columns.names[index],
            "special": columns.special[index],
            "hue": word_colour(columns.words[index] if columns.words else None),
            "value": row[index],
            "beside": None if other is None else other[index],
        }
        for index in order
    ]
    return TEXT.sources(
        name=made.rows.names[place],
        token=made.rows.numbers[place],
        recipe=recipe,
        bars=bars,
        full=max(row.max(), 0.0 if other is None else other.max()) or 1.0,
        others=len(row) - len(order),
        rest=row.sum() - row[order].sum(),
    )


def aggregate_json(run: Run, title: str, recipe: Recipe, made: Aggregate) -> str:
    """The matrix as a JSON document (text), with the recipe and its sentence."""
    document = {
        "what": told(recipe, made, run),
        "model": {"key": run.model, "title": title},
        "text": run.encoding.text,
        "text_pair": run.encoding.text_pair,
        "recipe": asdict(recipe),
        "rows": list(made.rows.names),
        "columns": list(made.columns.names),
        "first_token_of_row": list(made.rows.numbers),
        "first_token_of_column": list(made.columns.numbers),
        "weights": rounded(made.values),
        "row_sums": rounded(made.sums),
        "sources": ["Abnar and Zuidema 2020 (rollout)", "Clark et al. 2019, section 4.1 (words)"],
    }
    return json.dumps(document, ensure_ascii=False)


def _what(recipe: Recipe, run: Run) -> str:
    heads, layers = run.num_heads, run.num_layers
    through = f"layers 0 to {recipe.layer}" if recipe.layer else "layer 0"
    return {
        "head": f"Layer {recipe.layer}, head {recipe.head}",
        "heads-mean": f"The mean over the {heads} heads of layer {recipe.layer}",
        "heads-max": f"The largest weight among the {heads} heads of layer {recipe.layer}",
        "layers-mean": f"The mean over the {layers} layers of their head {recipe.head}",
        "layers-max": f"The largest weight among the {layers} layers' head {recipe.head}",
        "all-mean": f"The mean over all {layers * heads} heads of all {layers} layers",
        "all-max": f"The largest weight among all {layers * heads} heads of all {layers} layers",
        "rollout": f"Attention rollout through {through}, residual share {recipe.residual:.2f}",
    }[recipe.what]


def _side(letter: str) -> str:
    return f"sentence {letter}"

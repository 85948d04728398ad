"""Many heads as one, in words: the computation, the sums of its rows, and the composition of one token."""

import json
from dataclasses import asdict

import numpy as np

from demos.bert.attention.rollout import Aggregate, Recipe
from demos.bert.model.catalogue import UNIGRAM, ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.bert.model.layer_weights import LAYERS, PARTS, values_of
from demos.bert.model.run import Run
from demos.figures.download_names import rounded
from demos.figures.palette import word_colour
from demos.figures.program import model_lines, texts_of
from demos.templates import templates

TEXT, PLAIN, PROGRAM = (templates(__file__, name) for name in ("text.html", "text.txt", "program.txt"))
SOURCES = 8  # the strongest sources that are listed


def summary(recipe: Recipe, joined: Aggregate, run: Run) -> str:
    """One sentence (plain text) that says what was computed, and what the rows sum to."""
    tokens = zip(run.encoding.tokens, run.encoding.special_tokens_mask, strict=True)
    sentence = PLAIN.summary(
        recipe=recipe,
        layers=run.num_layers,
        heads=run.num_heads,
        hidden=list(dict.fromkeys(token for token, special in tokens if special)),
        pair=run.encoding.sentence_b_start is not None,
        mean=joined.sums.mean(),
        low=joined.sums.min(),
        high=joined.sums.max(),
    )
    return " ".join(sentence.split())


def note(
    recipe: Recipe, stays: float | None = None, joined: Aggregate | None = None, beside: Aggregate | None = None
) -> str:
    """A caution about this way of combining heads (plain text), or "".

    `stays` is the share of a token that stays itself in the recipe's layer, measured in lengths. `joined` and `beside`
    are the rollouts of this share and of the other: the note says for both how much of each token is itself at the end.
    """
    both = joined is not None and beside is not None and joined.rows == joined.columns
    itself = [
        float(np.diagonal(aggregate.values).mean()) for aggregate in (joined, beside) if aggregate is not None and both
    ]
    return " ".join(PLAIN.note(recipe, stays, itself).split())


def sources_html(joined: Aggregate, place: int, recipe: Recipe, beside: Aggregate | None = None) -> str:
    """The strongest entries of row `place` as a list of bars; `beside` puts another matrix' same row next to it.

    `beside` is cut and named as `joined` is: for a rollout, the one with the other residual share.
    """
    row, other = joined.values[place], beside.values[place] if beside else None
    shown = len(row) if len(row) == SOURCES + 1 else SOURCES  # a bar takes no more room than “All other 1”
    order = np.argsort(-row, kind="stable")[:shown]
    columns = joined.columns
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
        name=joined.rows.names[place],
        token=joined.rows.numbers[place],
        recipe=recipe,
        bars=bars,
        full=max(row.max(), 0.0 if other is None else other.max()) or 1.0,
        others=len(row) - len(order),
        rest=row.sum() - row[order].sum(),
    )


def aggregate_json(run: Run, title: str, recipe: Recipe, joined: Aggregate) -> str:
    """The matrix as a JSON document (text), with the recipe and its sentence."""
    document = {
        "what": summary(recipe, joined, run),
        "model": {"key": run.model, "title": title},
        "text": run.encoding.text,
        "text_pair": run.encoding.text_pair,
        "recipe": asdict(recipe),
        "rows": list(joined.rows.names),
        "columns": list(joined.columns.names),
        "first_token_of_row": list(joined.rows.numbers),
        "first_token_of_column": list(joined.columns.numbers),
        "weights": rounded(joined.values),
        "row_sums": rounded(joined.sums),
        "sources": [
            "Abnar and Zuidema 2020 (rollout)",
            "Kobayashi et al. 2020 (contributions) and 2021 (measured residual share)",
            "Clark et al. 2019, section 4.1 (words)",
        ],
    }
    return json.dumps(document, ensure_ascii=False)


def rollout_code(spec: ModelSpec, encoding: Encoding, recipe: Recipe) -> str:
    """Prints the recipe's matrix, one row per query, and each row's sum."""
    imports, source = model_lines(spec)
    cut = recipe.quarter != "all" and encoding.sentence_b_start is not None
    return PROGRAM.program(
        imports=imports,
        source=source,
        texts=texts_of(encoding),
        max_tokens=MAX_TOKENS,
        segments=spec.segments,
        recipe=recipe,
        stays=round(recipe.residual, 2),
        blocks=LAYERS[spec.architecture],
        values=values_of(spec.architecture),
        output=PARTS[spec.architecture]["output"],
        norm=PARTS[spec.architecture].get("attention_norm"),
        spaced=spec.architecture in UNIGRAM,
        by_sequence=cut and 1 not in encoding.token_type_ids,
        quarter=["AB".index(recipe.quarter[end]) for end in (0, -1)] if cut else None,
    )

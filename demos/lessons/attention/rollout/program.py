"""The program of "Many heads as one": prints the numbers on the page for this input and these choices."""

from __future__ import annotations

from demos.bert.attention.rollout import Recipe
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.figures.program import model_lines, texts_of
from demos.templates import templates

PROGRAM = templates(__file__, "program.txt")


def rollout_code(spec: ModelSpec, encoding: Encoding, recipe: Recipe) -> str:
    """Prints the recipe's matrix, a row a query, and each row's sum."""
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
        quarter=["AB".index(recipe.quarter[end]) for end in (0, -1)] if cut else None,
    )

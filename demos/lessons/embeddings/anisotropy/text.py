"""The shape of the space in words and tables."""

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.anisotropy import dominating
from demos.bert.embeddings.anisotropy_repairs import Repaired
from demos.bert.embeddings.vector_space import CLS, TOP, Space
from demos.lessons.embeddings.anisotropy.figure import NAMES, repair_name
from demos.templates import templates

TEXT = templates(__file__)


def space_summary(space: Space, kind: str, layer: int) -> Markup:
    """The picked layer's mean cosine large, what random directions would have, and which dimensions make it so."""
    cloud = space.clouds[kind]
    mean, parts = float(cloud.anisotropy[layer]), cloud.contributions[layer]
    top = dominating(parts, TOP)
    return TEXT.space(
        kind=kind,
        layer=layer,
        mean=mean,
        rest=float(cloud.trimmed[layer]),
        top=top.tolist(),
        alone=parts[top[0]] / mean if mean else 0.0,
        together=parts[top].sum() / mean if mean else 0.0,
        width=space.width,
        spread=1 / math.sqrt(space.width),
        short_of=np.format_float_positional(1 - mean, 1, fractional=False),
    )


def repairs_summary(repairs: Sequence[Repaired], fitted: int, kind: str, layer: int) -> Markup:
    """The effect of the corrections at this layer, and the sentences that they were fitted on."""
    width = repairs[0].dimensions
    helped = [repair for repair in repairs if repair.gain is not None and repair.gain.low > 0]
    best = max(helped, key=lambda repair: repair.correlation.spearman, default=None)
    return TEXT.repairs(
        whose="[CLS]" if kind == CLS else "mean",
        layer=layer,
        best=best and {"name": repair_name(best, width), "rho": best.correlation.spearman},
        before=repairs[0].correlation.spearman,
        harmed=[repair_name(repair, width) for repair in repairs if repair.gain is not None and repair.gain.high < 0],
        fitted=fitted,
    )


def space_table(space: Space) -> Markup:
    """Every layer's numbers: the mean cosines, the dominating dimensions and the lengths."""
    layers = []
    for layer in range(space.num_layers + 1):
        cells = []
        for cloud in (space.clouds[kind] for kind in NAMES):
            mean, parts = float(cloud.anisotropy[layer]), cloud.contributions[layer]
            top = [(at, parts[at] / mean if mean else 0.0) for at in dominating(parts, TOP)]
            cells.append({"mean": mean, "trimmed": cloud.trimmed[layer], "top": top, "lengths": cloud.norms[layer]})
        layers.append(cells)
    return TEXT.space_table(list(NAMES.values()), layers, TOP)


def repairs_table(repairs: Sequence[Repaired]) -> Markup:
    """Each repair's rho, its interval and the gain's."""
    rows = [(repair_name(repair, repairs[0].dimensions), repair) for repair in repairs]
    return TEXT.repairs_table(rows, len(repairs[0].cosines))

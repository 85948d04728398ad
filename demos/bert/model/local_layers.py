"""ModernBERT's global and local layers: in a local one, a token attends only to tokens at most some places away.

Benjamin Warner and others (2024), ModernBERT, section 2.1.2: every third layer is global, and the window of the others
has 128 tokens.
"""

from typing import Any

from demos.counting import counted, layer_name

Reaches = tuple[int | None, ...]  # for each layer, how many places on each side; None: all tokens. Or empty
GLOBAL, LOCAL = "full_attention", "sliding_attention"  # as a configuration calls them


def reaches(config: Any) -> Reaches:
    """For each layer, the number of places on each side that a token attends to, or None where it attends to all.

    Empty for a model whose layers are all alike, as BERT's are.
    """
    if config.model_type != "modernbert":
        return ()
    return tuple(config.sliding_window if kind == LOCAL else None for kind in config.layer_types)


def kinds_note(of_layers: Reaches) -> str:
    """The words on its layers in a model's note, without the full stop; "" where they are all alike."""
    local = next((reach for reach in of_layers if reach is not None), None)
    if local is None:
        return ""
    near = f"each token attends to itself and to at most {local} tokens on each side"
    everywhere = [str(counted(layer)) for layer, reach in enumerate(of_layers) if reach is None]
    if not everywhere:
        return f"All of its layers are local: {near}"
    *others, last = everywhere
    named = f"Layers {', '.join(others)} and {last} are" if others else f"Layer {last} is"
    return f"{named} global: each token attends to all tokens. The other layers are local: {near}"


def kind_said(of_layers: Reaches, layer: int | None, n: int, dashed: bool = False) -> str:
    """The sentence on whether `layer`, from 0, is global or local, for n tokens; with no layer, on which of all are.

    "" where all layers are alike. `dashed`: a heatmap of the n tokens shows how far they attend.
    """
    if not of_layers or layer is None:
        return (note := kinds_note(of_layers)) and f"{note}."
    reach, name = of_layers[layer], layer_name(layer).capitalize()
    if reach is None:
        return f"{name} is global: each token can attend to all tokens."
    near = f"{name} is local: each token attends to itself and to at most {reach} tokens on each side"
    if n <= reach + 1:
        return f"{near}. This input has {n} tokens, so all of them are within this distance."
    lines = " Dashed lines in the heatmap mark the edges of this window." if dashed else ""
    return f"{near}; all other weights are exactly 0.{lines}"

"""A layer's number as a person gives it, checked once for attentions and hidden states alike."""

from demos.errors import UserError


def layer_index(layer: float, count: int, there_are: str) -> int:
    """`layer` as an index into `count` layers, 0..count-1; negative ones count from the end, as in Python.

    Raises UserError, ending in `there_are`, for what is no whole number or lies outside.
    """
    if isinstance(layer, bool) or not isinstance(layer, int | float) or layer not in range(-count, count):
        raise UserError(f"There is no layer {str(layer)[:20]!r} here; {there_are}.")
    return int(layer) % count

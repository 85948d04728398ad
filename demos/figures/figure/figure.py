"""Plotly's figures as plain dictionaries, {"data": traces, "layout": layout}, and as the text that the browser draws.

Plotly's own classes check each property as it is set, which takes a hundred times as long as writing the figure. Here
nothing is checked; tests/plotly_figure.py reads every figure with those classes.
"""

import base64
from collections.abc import Mapping
from typing import Any, TypedDict, TypeGuard

import numpy as np
import orjson

Attributes = dict[str, Any]  # Plotly's, of any part of a figure: its layout, a legend, a line
Trace = Attributes  # what it draws
Axis = Attributes
Mark = Attributes  # a shape or an annotation
FEW = 12  # numbers that are shorter as text
NESTED = (dict, np.ndarray, list, tuple)  # what may hold something that is written in another way


class Figure(TypedDict):
    data: list[Trace]
    layout: Attributes


def for_phones(figure: Figure, layout: Attributes, data: Mapping[int, Trace] | None = None) -> Figure:
    """The figure with what is different on a phone, name by name: of its layout, and of its traces by their number.

    The page lays it over the rest where it is narrow (demos/page/plots.js). Elsewhere Plotly does not see it.
    """
    phone = {"layout": layout, "data": dict(data or {})}
    return {"data": figure["data"], "layout": figure["layout"] | {"phone": phone}}


def is_figure(value: Any) -> TypeGuard[Figure]:
    """Whether it is a figure, and no other dictionary that a handler may answer with."""
    return isinstance(value, dict) and value.keys() == {"data", "layout"}


def figure_json(figure: Figure) -> str:
    """The figure as JSON: without None, numbers as arrays of bytes in base64, fractions as float32."""
    return orjson.dumps(_written(figure), option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS).decode()


def figure_of(written: str) -> Figure:
    """The figure that `figure_json` has written, with its numbers as arrays."""
    return _read(orjson.loads(written))


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if "bdata" not in value:
        return {name: _read(inner) for name, inner in value.items()}
    numbers = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
    return numbers.reshape([int(size) for size in value["shape"].split(", ")]) if "shape" in value else numbers


def _written(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _written(inner) if isinstance(inner, NESTED) else inner
            for name, inner in value.items()
            if inner is not None
        }
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        return [_written(inner) for inner in value]
    return value


def _array(values: np.ndarray) -> Any:
    """The form from which Plotly.js reads an array; one that does not hold numbers is a list."""
    if values.dtype.kind not in "fiu":
        return values.tolist()
    kind = np.dtype(np.float32) if values.dtype.kind == "f" else _smallest(values)
    values = np.ascontiguousarray(values, dtype=kind)
    if values.ndim == 1 and len(values) <= FEW:
        return values
    written = {"dtype": kind.str[1:], "bdata": base64.b64encode(values.tobytes()).decode()}
    return written | ({"shape": ", ".join(map(str, values.shape))} if values.ndim > 1 else {})


def _smallest(values: np.ndarray) -> np.dtype[Any]:
    """The smallest integer type of Plotly.js that has room for these."""
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    kinds = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32)
    fitting = (kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return np.dtype(next(fitting, np.float64))

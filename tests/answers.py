"""What a part's handler answers, as a test reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from demos.figures.figure.figure import is_figure
from tests.plotly_figure import plotly


def read(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The values by name: what a shut fold holds is asked for, and figures are as Plotly reads them."""
    asked = {name: value() if callable(value) else value for name, value in answer.items()}
    return {name: plotly(value) if is_figure(value) else value for name, value in asked.items()}

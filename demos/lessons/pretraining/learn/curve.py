"""Live pre-training's curve: a component that fetches the points it lacks, and the messages that it receives."""

import math
from collections.abc import Callable
from typing import Any

import gradio as gr

from demos.files import read_beside
from demos.templates import in_script
from demos.training.pretraining.copies import Point
from demos.widgets.live_curve.live_curve import live_picture


def loss_curve(news: Callable[[Any], str], **options: Any) -> gr.HTML:
    """The live curve. During a press it requests new points by itself: news([run, last step]) is a message."""
    return live_picture(news, read_beside(__file__, "curve.html"), read_beside(__file__, "script.js"), **options)


class Feed:
    """One press's messages to the curve; points are sent after the ones that it has."""

    def __init__(self, run: str, vocabulary: int, total: int) -> None:
        self.state = {
            "run": run,
            "done": False,
            "total": total,
            "guess": math.log(vocabulary),
            "status": "Copying the model …",
        }
        self.points: list[Point] = []

    def message(self, after: int = 0, **more: Any) -> str:
        """The state and the points after step number `after`, as JSON text; NaN becomes null."""
        points = [point for point in list(self.points) if point.step > after]
        rows = [[point.step, _plain(point.masked), _plain(point.untrained)] for point in points]
        return in_script({**self.state, **more, "points": rows})


def _plain(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None

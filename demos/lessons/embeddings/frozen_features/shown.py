"""The outputs of "Frozen features" on its classifiers: bars, tables and the grid, by component."""

from collections.abc import Mapping

import gradio as gr

from demos.bert.embeddings.frozen_features import features_of
from demos.bert.embeddings.pooling import Choice
from demos.lessons.embeddings.frozen_features.classifiers import Task
from demos.lessons.embeddings.frozen_features.figure import Bar, bars_figure, feature_name, grid_figure
from demos.lessons.embeddings.frozen_features.text import TEXT, bars_html, grid_html, numbers_html
from demos.page.view import Shown
from demos.training.data.sst2 import PUBLISHED
from demos.training.frozen_classifier import Fit, chosen, wilson
from demos.training.lstm_classifier import Learned
from demos.widgets.pooling_menus.pooling_menus import menu_values

Row = tuple[str, str, Fit]  # the features, their kind of bar, the fit


def frozen_row(task: Task, choice: Choice, fit: Fit) -> Row:
    """A frozen vector's fit by its name."""
    return f"{feature_name(choice, task.deepest)}, frozen", "frozen", fit


def numbers(task: Task, rows: list[Row], fits: Mapping[Choice, Fit]) -> str:
    """The tables of the fold."""
    named = [(name, fit) for name, _, fit in rows]
    return numbers_html(named, fits, task.data, task.split, task.deepest)


def bar(name: str, kind: str, fit: Fit) -> Bar:
    return Bar(name, kind, fit.scores.accuracy, fit.interval)


def lstm_bar(learned: Learned, held_out: int) -> Bar:
    """The LSTM as a bar; its interval as the others' is."""
    interval = wilson(round(learned.accuracy * held_out), held_out)
    return Bar("LSTM, trained from scratch", "lstm", learned.accuracy, interval)


def bars_shown(task: Task, bars: list[Bar], picked: int) -> Shown:
    """The bars, the guide's published ones last, and the sentence on the one at `picked`."""
    guides = [Bar(f"Alammar 2019: {name}", "published", value) for name, value in PUBLISHED] if task.data.guide else []
    return {
        "bars": bars_figure([*bars, *guides]),
        "said": bars_html(bars, picked, len(task.split.test), task.data.guide),
    }


def grid_shown(task: Task, fits: Mapping[Choice, Fit]) -> Shown:
    """The grid of the fitted choices; it is absent if only the opening's few are fitted."""
    total = len(features_of(task.loaded))
    if len(fits) < min(total, 5):
        hidden = gr.update(visible=False)
        return {"grid": hidden, "take": hidden, "best": "", "grid_said": TEXT.choices(total)}
    scores, best = {choice: fit.cross_validated for choice, fit in fits.items()}, chosen(fits)
    return {
        "grid": gr.update(visible=True, value=grid_figure(scores, best, task.deepest)),
        "take": gr.update(visible=True),
        "best": ",".join(menu_values(best, task.deepest)),
        "grid_said": grid_html(fits, total, task.deepest, len(task.split.test)),
    }

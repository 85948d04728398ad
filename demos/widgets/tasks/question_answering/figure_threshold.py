"""The threshold of "no answer" (Plotly): F1 at each tau above, and below each test question where its gap is."""

import numpy as np

from demos.figures.figure.figure import Figure, Mark, Trace
from demos.figures.palette import CLASSES, PALETTE, plotly_layout
from demos.training.tasks.question_answering.null_answers import AtThreshold, NullScores

STEPS = 60  # of the slider, at the most
CURVES = (
    ("all questions", "every", "solid"),
    ("with an answer", "answerable", "dash"),
    ("without one", "unanswerable", "dot"),
)
HUES = (CLASSES[2], CLASSES[0], CLASSES[5])


def threshold_figure(null: NullScores) -> Figure:
    """Curves of F1 over tau, one dot per question in two rows, and a line at tau that a slider moves."""
    traces: list[Trace] = []
    taus = [at.tau for at in null.curve]
    for (name, field, dash), hue in zip(CURVES, HUES, strict=True):
        curve = {
            "type": "scatter",
            "x": taus,
            "y": [getattr(at, field).f1 for at in null.curve],
            "name": f"F1, {name}",
            "yaxis": "y2",
            "mode": "lines",
            "line": {"color": hue, "width": 3, "dash": dash, "shape": "hv"},
            "hovertemplate": "τ %{x:.2f}: F1 %{y:.3f}<extra></extra>",
        }
        traces.append(curve)
    gaps, answerable = np.array(null.gaps), np.array(null.answerable)
    for row, hue in ((0, HUES[2]), (1, HUES[1])):
        own = gaps[(answerable == bool(row)) & np.isfinite(gaps)]
        spread = (np.arange(len(own)) * 0.618034) % 1 * 0.5 - 0.25  # so that equal gaps do not hide one another
        dots = {
            "type": "scatter",
            "x": own,
            "y": row + spread,
            "mode": "markers",
            "showlegend": False,
            "marker": {"color": hue, "size": 9, "opacity": 0.75, "symbol": "circle" if row else "diamond"},
            "hovertemplate": "null score − best span’s %{x:.2f}<extra></extra>",
        }
        traces.append(dots)
    steps = [*null.curve[:: -(-len(null.curve) // STEPS)]]
    steps = sorted({*steps, null.chosen}, key=lambda at: at.tau)
    low, high = min(taus) - 0.5, max(taus) + 1
    slider = {
        "active": steps.index(null.chosen),
        "y": -0.22,
        "pad": {"t": 0},
        "currentvalue": {"visible": False},
        "ticklen": 0,
        "minorticklen": 0,
        "font": {"size": 1, "color": "rgba(0,0,0,0)"},
        "steps": [
            {
                "label": f"τ = {at.tau:+.2f}",
                "method": "relayout",
                "args": [{"shapes": [_line(at)], "annotations": [_annotation(at)]}],
            }
            for at in steps
        ],
    }
    layout = plotly_layout(
        height=520,
        margin={"l": 110, "r": 20, "t": 88, "b": 130},
        shapes=[_line(null.chosen)],
        annotations=[_annotation(null.chosen)],
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        xaxis={"range": [low, high], "title": {"text": "null score − best span’s score"}, "anchor": "y"},
        yaxis={
            "domain": [0, 0.36],
            "range": [-0.5, 1.5],
            "tickvals": [0, 1],
            "showgrid": False,
            "zeroline": False,
            "ticktext": ["no answer", "an answer"],
        },
        yaxis2={"domain": [0.46, 1], "range": [0, 1.02], "title": {"text": "F1"}},
        sliders=[slider],
    )
    return {"data": traces, "layout": layout}


def _line(at: AtThreshold) -> Trace:
    return {
        "type": "line",
        "x0": at.tau,
        "x1": at.tau,
        "y0": 0,
        "y1": 1,
        "xref": "x",
        "yref": "paper",
        "line": {"color": PALETTE["signed"][0], "width": 3},
    }


def _annotation(at: AtThreshold) -> Mark:
    text = (
        f"<b>τ = {at.tau:+.2f}</b>: EM {at.every.exact:.3f}, F1 {at.every.f1:.3f}<br>"
        f"HasAns F1 {at.answerable.f1:.3f}, NoAns F1 {at.unanswerable.f1:.3f}"
    )
    return {
        "x": 0, "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "yshift": 34,
        "align": "left",
        "text": text, "showarrow": False, "font": {"size": 16},
    }  # fmt: skip

"""The time of a GRU and of a Transformer for growing sentences: lines, and the same in words."""

from markupsafe import Markup

from demos.bert.translation.timing import SENTENCES, Measured
from demos.bert.translation.translators import TRANSFORMER
from demos.figures.figure.figure import Figure
from demos.figures.palette import CLASSES, plotly_layout
from demos.files import read_filled
from demos.lessons.translation.figure import ABOVE
from demos.lessons.translation.program_model import model_class
from demos.templates import templates
from demos.training.translation.training import RATE, TRANSFORMER_RATE, Plan

TEXT = templates(__file__)
MODES = {"trained": ("forward pass", "solid"), "written": ("writing", "dash")}


def times_figure(measured: Measured) -> Figure:
    """Milliseconds against words, both on logarithmic axes; a colour for each translator, dashed where it writes."""
    traces = [
        {
            "type": "scatter",
            "x": list(of_mode),
            "y": [1e3 * seconds for seconds in of_mode.values()],
            "name": f"{name}, {title}",
            "mode": "lines+markers",
            "line": {"color": CLASSES[number], "width": 3, "dash": dash},
            "marker": {"size": 10, "symbol": ("circle", "diamond")[number]},
            "hovertemplate": f"%{{x}} words: <b>%{{y:.3g}} ms</b><extra>{name}, {title}</extra>",
        }
        for number, (name, times) in enumerate(measured.times.items())
        for of_mode, title, dash in ((getattr(times, mode), *look) for mode, look in MODES.items())
    ]
    ticks = list(next(iter(measured.times.values())).trained)
    words = {"title": {"text": "words per sentence (source and target)"}, "tickvals": ticks}
    layout = plotly_layout(
        height=360,
        margin={"l": 70, "r": 20, "t": 20, "b": 60},
        legend=ABOVE | {"y": 1.0},
        showlegend=True,
        xaxis={"type": "log", "ticktext": [str(n) for n in ticks]} | words,
        yaxis={"type": "log", "title": {"text": f"milliseconds for {SENTENCES} sentences"}, "dtick": 1},
    )
    return {"data": traces, "layout": layout}


def times_summary(measured: Measured) -> Markup:
    rows = [
        (f"{name}, {title}", list(getattr(times, mode).values()))
        for name, times in measured.times.items()
        for mode, (title, _) in MODES.items()
    ]
    lengths = list(next(iter(measured.times.values())).trained)
    return TEXT.times(rows, lengths, SENTENCES, measured.threads)


def training_code(plan: Plan) -> str:
    """A program that trains as the page does, with this plan."""
    packing, score, model = model_class(plan.score)
    rate = TRANSFORMER_RATE if plan.score == TRANSFORMER else RATE
    values = {"IMPORTS\n": packing, "SCORE": score, "TASK": plan.task, "RATE": rate, "MODEL": model.rstrip()}
    return read_filled(__file__, "program.txt", values | {"STEPS": plan.steps, "SEED": plan.seed})

"""The fates of the test sentences' entities, type by type (Plotly): found, missed, or wrong."""

from demos.figures.figure.figure import Figure
from demos.figures.fonts.fonts import SANS
from demos.figures.palette import PALETTE, plotly_layout
from demos.figures.short_text import short
from demos.templates import plot_text
from demos.training.tasks.entities.events import TagResult

NAME_LENGTH = 18
WAYS = (  # (what became of them, field, the shade of right to wrong, its numbers' ink)
    ("found", "right", PALETTE["signed"][6], "#ffffff"),
    ("wrong border", "wrong_border", PALETTE["signed"][4], "#000000"),
    ("wrong type", "wrong_type", PALETTE["signed"][2], "#000000"),
    ("missed", "missed", PALETTE["signed"][1], "#000000"),
    ("invented", "invented", PALETTE["signed"][0], "#ffffff"),
)


def ways_figure(result: TagResult) -> Figure:
    """The fates of each type's test entities: one bar for each type, as long as it has entities; to the left, the
    invented ones.

    Not a confusion matrix of words: there O fills the picture, and a wrong border can't be seen. Here what is counted
    is what entity F1 counts.
    """
    names = [plot_text(short(kind.name, NAME_LENGTH)) for kind in result.ways]
    places = list(range(len(names)))
    traces = []
    for title, field, colour, ink in WAYS:
        counts = [getattr(kind, field) for kind in result.ways]
        bars = {
            "type": "bar",
            "y": places,
            "x": [-count if field == "invented" else count for count in counts],
            "orientation": "h",
            "name": f"{title} {sum(counts):,}",
            "marker": {"color": colour},
            "text": [f"{count:,}" if count else "" for count in counts],
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "textfont": {"size": 18, "color": ink},
            "customdata": [[plot_text(kind.name), count] for kind, count in zip(result.ways, counts, strict=True)],
            "hovertemplate": "%{customdata[0]}: %{customdata[1]} " + title + "<extra></extra>",
        }
        traces.append(bars)
    low = max((kind.invented for kind in result.ways), default=0)
    high = max((score.true for score in result.scores.types), default=0)
    step = _step(low + high)
    ticks = list(range(-(low // step) * step, high + step, step))
    layout = plotly_layout(
        height=max(260, 56 * len(names) + 150),
        barmode="relative",
        bargap=0.25,
        font={"family": SANS, "size": 16},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal",
                "font": {"size": 17}},
        margin={"l": 60, "r": 10, "t": 60, "b": 50},
        xaxis={"title": {"text": "← false positives   |   test entities"}, "zeroline": True, "tickvals": ticks,
               "ticktext": [f"{abs(tick)}" for tick in ticks]},
        yaxis={"tickvals": places, "ticktext": names, "autorange": "reversed", "showgrid": False,
               "tickfont": {"size": 18}},
    )  # fmt: skip
    return {"data": traces, "layout": layout}


def _step(width: int) -> int:
    """A round distance between about six ticks."""
    return next((step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000) if width <= 7 * step), 5_000)

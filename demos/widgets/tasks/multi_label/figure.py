"""The fates of each label on the test sentences: found, missed, given wrongly (Plotly)."""

from demos.figures.figure.figure import Figure
from demos.figures.fonts.fonts import SANS
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.figures.short_text import short
from demos.templates import plot_text
from demos.training.tasks.multi_label.task import MultiLabelResult

NAME_LENGTH = 18
ROW = 40  # pixels for a label
FEWEST = 340  # pixels


def decisions_figure(result: MultiLabelResult) -> Figure:
    """Bars by label: to the right the sentences that have it, found or missed; to the left those given it wrongly."""
    scores, count = result.scores, len(result.labels)
    names = [plot_text(label) for label in result.labels]
    places = list(range(count))  # numbers, not names: two labels whose names are cut alike must stay two
    series = (
        ("found", scores.found, 1, CLASSES[0]),
        ("missed", scores.missed, 1, SPECIAL),
        ("predicted wrongly", scores.wrong, -1, CLASSES[5]),
    )
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "y": places,
            "x": [side * value for value in counts],
            "name": f"{what}: {sum(counts):,}",
            "marker": {"color": colour},
            "customdata": [[name, value] for name, value in zip(names, counts, strict=True)],
            "hovertemplate": "%{customdata[0]}<br>%{customdata[1]} " + what + "<extra></extra>",
        }
        for what, counts, side, colour in series
    ]
    most = max(max(map(sum, zip(scores.found, scores.missed, strict=True))), *scores.wrong, 1)
    step = next((step for step in (1, 2, 5, 10, 20, 50, 100, 200) if most / step <= 6), 500)
    ticks = list(range(-(most // step) * step, most + 1, step))
    layout = plotly_layout(
        height=max(FEWEST, ROW * count + 130),
        barmode="relative",
        font={"family": SANS, "size": 16},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 16}},
        margin={"l": 130, "r": 12, "t": 12, "b": 60},
        xaxis={
            "title": {"text": "test sentences"},
            "zeroline": True,
            "tickvals": ticks,
            "ticktext": [f"{abs(tick):,}" for tick in ticks],
        },
        yaxis={
            "tickvals": places,
            "ticktext": [plot_text(short(label, NAME_LENGTH)) for label in result.labels],
            "autorange": "reversed",
            "zeroline": False,
        },
    )
    return {"data": traces, "layout": layout}

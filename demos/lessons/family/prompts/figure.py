"""A model's answers after prompts with and without examples; the ranks of all questions of a task."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median

from demos.bert.causal.prompts import SHOTS, Answered, Task
from demos.bert.family.members import BOTH, Member
from demos.figures.figure.figure import Axis, Figure, Mark, Trace
from demos.figures.numbers import percent
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.token_chips import token_label
from demos.lessons.family.prompts.stored import Stored
from demos.templates import plot_text, templates

TEXT = templates(__file__)
NAMES = {0: "no example", 1: "one example", 3: "three examples"}
GPT3 = (("TriviaQA", 64.3, 68.0, 71.2), ("WebQuestions", 14.4, 25.3, 41.5), ("Natural Questions", 14.6, 23.0, 29.9))
# Accuracy of GPT-3 (175 billion parameters) in per cent by number of examples: Brown et al. 2020, table 3.3, page 13
LOWEST = GPT3[-1][0]  # whose name has its place under all lines
BELOW: Axis = {
    "text": LOWEST,
    "xref": "x2",
    "yref": "y2",
    "x": 2,
    "y": 7,
    "xanchor": "right",
    "showarrow": False,
    "font": {"size": 16},
}


def question_html(member: Member, task: Task, results: Sequence[Answered], written: Sequence[str]) -> str:
    """One question: each prompt, what `member` wrote after it, the answer's rank and what comes first instead.

    For a model with an encoder, a note explains its form.
    """
    rows = [(NAMES[shots], result, text) for shots, result, text in zip(SHOTS, results, written, strict=False)]
    return TEXT.question(member, task, member.stack == BOTH, rows, token_label, percent)


def stored_html(models: Sequence[Stored], task: Task, at: int) -> str:
    """The stored answers of larger models to one question, or a note that there are none."""
    rows = []
    for model in models:
        names = ["T5's own input" if model.has_encoder and task.prefix else name for name in NAMES.values()]
        rows += [(model.title, name, answer) for name, answer in zip(names, model.of(task, at), strict=False)]
    return TEXT.stored(task.pairs[at], rows, models)


def ranks_figure(task: Task, rows: Sequence[Sequence[Answered]], words: int) -> Figure:
    """A mark for each question's rank, by the number of examples, a line through the medians; GPT-3's beside them."""
    columns = SHOTS[: len(rows[0])]
    questions = [plot_text(f"{question} → {answer}") for question, answer in task.pairs]
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": [str(shots)] * len(rows),
            "y": [row[column].rank for row in rows],
            "mode": "markers",
            "marker": {"size": 10, "color": CLASSES[0], "opacity": 0.55},
            "text": questions,
            "hovertemplate": "%{text}<br>rank %{y:,}<extra></extra>",
        }
        for column, shots in enumerate(columns)
    ]
    medians = {
        "type": "scatter",
        "x": [str(shots) for shots in columns],
        "y": medians_of(rows),
        "mode": "lines+markers",
        "name": "median",
        "line": {"color": CLASSES[1], "width": 3},
        "marker": {"symbol": "line-ew-open", "size": 30, "line": {"width": 4}},
        "hovertemplate": "median %{y:,.1f}<extra></extra>",
    }
    ticks = [1, 10, 100, 1000, 10000]
    lowest = math.log10(max(result.rank for row in rows for result in row))
    ranks = {"type": "log", "range": [max(2.0, lowest) + 0.2, -0.15], "title": {"text": f"rank (of {words:,})"}}
    zero, few = {"type": "category"}, {"type": "category", "domain": [0.62, 1], "anchor": "y2"}
    layout = plotly_layout(
        height=262,
        margin={"l": 74, "r": 10, "t": 30, "b": 46},
        showlegend=False,
        xaxis=zero | {"domain": [0, 0.46], "title": {"text": "examples in the prompt", "standoff": 6}},
        xaxis2=few,
        yaxis=ranks | {"tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]},
        yaxis2={"range": [0, 90], "domain": [0, 1], "anchor": "x2", "tickvals": [0, 20, 40, 60, 80]},
        annotations=[_heading(0.0, "correct answer"), _heading(1.0, "GPT-3: % correct"), BELOW],
    )
    return {"data": [*traces, medians, *_published()], "layout": layout}


def _heading(x: float, text: str) -> Mark:
    side = "right" if x == 1 else "left"
    place = {"xref": "paper", "yref": "paper", "x": x, "y": 1, "xanchor": side, "yanchor": "bottom"}
    return place | {"text": text, "showarrow": False, "font": {"size": 16}}


def _published() -> list[Trace]:
    """A line for each data set of GPT3, in the right-hand panel."""
    traces: list[Trace] = []
    for (name, *values), colour in zip(GPT3, CLASSES[2:], strict=False):
        trace = {
            "type": "scatter",
            "x": ["0", "1", "few"],
            "y": values,
            "xaxis": "x2",
            "yaxis": "y2",
            "mode": "lines+markers+text",
            "name": name,
            "text": ["", "", "" if name == LOWEST else name],
            "textposition": "top left",
            "textfont": {"size": 16},
            "line": {"color": colour, "width": 2.5},
            "marker": {"size": 8},
            "cliponaxis": False,
            "hovertemplate": f"{name}, %{{x}}: %{{y}} %<extra></extra>",
        }
        traces.append(trace)
    return traces


def found_html(task: Task, rows: Sequence[Sequence[Answered]]) -> str:
    """The median rank with each number of examples, and the token that the last prompt puts first most often."""
    firsts = Counter(row[-1].best[0].token for row in rows)
    ((most, count),) = firsts.most_common(1)
    medians = [(NAMES[shots], median) for shots, median in zip(SHOTS, medians_of(rows), strict=False)]
    return TEXT.found(medians, token_label(most), count, len(rows), len({answer for _, answer in task.pairs}))


def all_html(task: Task, rows: Sequence[Sequence[Answered]], member: Member) -> str:
    """All questions of a task as a table, with the medians; `member` has answered."""
    question_rows = [
        (question, answer, [f"{result.rank:,} ({percent(result.probability)})" for result in row])
        for (question, answer), row in zip(task.pairs, rows, strict=True)
    ]
    medians = [f"{median:,.1f}" for median in medians_of(rows)]
    title = f"{task.name}, {member.title}"
    return TEXT.every(
        title, [NAMES[shots] for shots in SHOTS[: len(rows[0])]], [*question_rows, ("median rank", "", medians)]
    )


def medians_of(rows: Sequence[Sequence[Answered]]) -> list[float]:
    """The median rank of all questions, for each number of examples."""
    return [median(result.rank for result in column) for column in zip(*rows, strict=True)]

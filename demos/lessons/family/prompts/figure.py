"""A model's answers after prompts with and without examples; the ranks of all questions of a task."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from demos.bert.causal.prompts import SHOTS, Answered, Task
from demos.bert.family.members import BOTH, Member
from demos.figures.figure.figure import Figure
from demos.figures.numbers import percent
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.token_chips import token_label
from demos.templates import plot_text, templates

TEXT = templates(__file__)
NAMES = {0: "no example", 1: "one example", 3: "three examples"}


def question_html(member: Member, task: Task, results: Sequence[Answered], written: Sequence[str]) -> str:
    """One question: each prompt, what `member` wrote after it, the answer's rank and what comes first instead.

    For a model with an encoder, a note explains its form.
    """
    rows = [(NAMES[shots], result, text) for shots, result, text in zip(SHOTS, results, written, strict=False)]
    return TEXT.question(member, task, member.stack == BOTH, rows, token_label, percent)


def ranks_figure(task: Task, rows: Sequence[Sequence[Answered]], words: int) -> Figure:
    """A mark for each question's rank, by the number of examples, and a line through the medians."""
    columns = SHOTS[: len(rows[0])]
    questions = [plot_text(f"{question} → {answer}") for question, answer in task.pairs]
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": [str(shots)] * len(rows),
            "y": [row[column].rank for row in rows],
            "mode": "markers",
            "marker": {"size": 10, "color": CLASSES[0], "opacity": 0.55},
            "text": questions,
            "hovertemplate": "%{text}<br>rank %{y:,}<extra></extra>",
            "showlegend": False,
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
    ranks = {"type": "log", "range": [4.6, -0.15], "title": {"text": f"rank (of {words:,})"}}
    layout = plotly_layout(
        height=330,
        margin={"l": 74, "r": 10, "t": 34, "b": 50},
        legend={"x": 0, "y": 1.02, "yanchor": "bottom"},
        xaxis={"type": "category", "title": {"text": "examples in the prompt", "standoff": 6}},
        yaxis=ranks | {"tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]},
    )
    return {"data": [*traces, medians], "layout": layout}


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

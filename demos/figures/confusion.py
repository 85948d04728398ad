"""A finished training drawn: its confusion matrix, as a Plotly figure and as a table whose cells are buttons."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from demos.figures.palette import colour_scale, plotly_layout
from demos.training.events import Result

NUMBERS_IN_CELLS = 16  # classes; with more the cells are too small to read
NAME_LENGTH = 18
IN_A_CELL = 12  # sentences listed of one cell
LINE = 240  # characters of one of them


def magnitude(share: float) -> str:
    """The colour "#rrggbb" of a share from 0 to 1 on the scale of magnitudes."""
    return str(sample_colorscale(colour_scale("magnitude"), [share], colortype="rgb")[0])


def short_name(label: str) -> str:
    """A class's name, cut to fit an axis, escaped: Plotly reads tags in its labels."""
    return html.escape(label if len(label) <= NAME_LENGTH else label[: NAME_LENGTH - 1] + "…")


def confusion_figure(result: Result) -> go.Figure:
    """Test sentences by true class (rows) and predicted class (columns); a row's colour is its share of that class."""
    names = [short_name(label) for label in result.labels]
    shares = [[count / max(1, sum(row)) for count in row] for row in result.confusion]
    count = len(names)
    few = count <= NUMBERS_IN_CELLS
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            zmin=0,
            zmax=1,
            # Numbers, not names, on the axes: two classes whose names are cut alike must stay two.
            x=list(range(count)),
            y=list(range(count)),
            colorscale=colour_scale("magnitude"),
            text=_cell_texts(result.confusion, shares) if few else None,
            texttemplate="%{text}" if few else None,
            textfont={"size": 17 if count <= 8 else 13},
            customdata=[
                [
                    [html.escape(truth), html.escape(guess), count]
                    for guess, count in zip(result.labels, row, strict=True)
                ]
                for truth, row in zip(result.labels, result.confusion, strict=True)
            ],
            hovertemplate="%{customdata[2]} of class %{customdata[0]}<br>taken for %{customdata[1]}<extra></extra>",
            xgap=2,
            ygap=2,
            showscale=False,
        )
    )
    figure.update_layout(
        **plotly_layout(height=max(320, 46 * min(count, 16) + 130), margin={"l": 110, "r": 10, "t": 10})
    )
    ticks = {"tickvals": list(range(count)), "ticktext": names, "showgrid": False, "zeroline": False}
    figure.update_xaxes(title="predicted", tickangle=-30 if count > 4 else 0, automargin=True, **ticks)
    figure.update_yaxes(title="true", autorange="reversed", automargin=True, **ticks)
    return figure


def _cell_texts(confusion: Sequence[Sequence[int]], shares: Sequence[Sequence[float]]) -> list[list[str]]:
    """Each count in the ink that can be read on its cell; none for 0, so that the mistakes stand out."""
    return [
        [f'<span style="color:{"#ffffff" if share > 0.55 else "#000000"}">{count or ""}</span>' for count, share in row]
        for row in (zip(counts, parts, strict=True) for counts, parts in zip(confusion, shares, strict=True))
    ]


def matrix_html(result: Result, tests: Sequence[Any]) -> str:
    """The same as a table whose cells are buttons, and the test sentences of each cell, the surest first.

    `tests` are the data set's test examples (text, label, pair), in the order of `result.answers`.
    """
    labels, count = result.labels, len(result.labels)
    cells: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for example, answer in zip(tests, result.answers, strict=True):
        guess = max(range(count), key=answer.__getitem__)
        told = " / ".join(filter(None, (example.text, example.pair)))
        cells.setdefault((example.label, guess), []).append((answer[guess], told))
    wrong = {cell: len(found) for cell, found in cells.items() if cell[0] != cell[1]}
    chosen = max(wrong, key=wrong.__getitem__) if wrong else min(cells, default=(0, 0))
    names = [(html.escape(label), short_name(label)) for label in labels]
    head = "".join(f'<th scope="col" title="{full}"><span>{name}</span></th>' for full, name in names)
    rows = "".join(
        f'<tr><th scope="row" title="{full}">{name}</th>'
        + "".join(_cell(result, truth, guess, (truth, guess) == chosen) for guess in range(count))
        + "</tr>"
        for truth, (full, name) in enumerate(names)
    )
    lists = "".join(_listed(labels, cell, found, cell == chosen) for cell, found in sorted(cells.items()))
    return (
        '<p class="aside">Test examples: rows are the true class, columns its answer. Choose a number to read them.</p>'
        '<div class="matrix-scroll"><table class="matrix" aria-label="Confusion matrix">'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        f'<div class="matrix-lists" aria-live="polite">{lists}</div>'
    )


def _cell(result: Result, truth: int, guess: int, chosen: bool) -> str:
    """A number to press, shaded by its share of the true class; nothing where it is 0."""
    count = result.confusion[truth][guess]
    if not count:
        return '<td class="none"></td>'
    share = count / sum(result.confusion[truth])
    colour, ink = magnitude(share), "#ffffff" if share > 0.55 else "#000000"
    told = f"{count} of class {result.labels[truth]}, taken for {result.labels[guess]}"
    return (
        f'<td><button type="button" data-cell="{truth}-{guess}" aria-pressed="{str(chosen).lower()}" '
        f'aria-label="{html.escape(told)}" style="--shade:{colour};--on:{ink}">{count}</button></td>'
    )


def _listed(labels: Sequence[str], cell: tuple[int, int], found: list[tuple[float, str]], chosen: bool) -> str:
    """The sentences of a cell, the surest first; hidden unless chosen."""
    truth, guess = (html.escape(labels[which]) for which in cell)
    title = f"{truth}, and taken for it" if cell[0] == cell[1] else f"{truth}, taken for {guess}"
    ordered = sorted(found, key=lambda one: -one[0])
    items = "".join(f"<li>{_line(text)} <span>{chance:.0%}</span></li>" for chance, text in ordered[:IN_A_CELL])
    more = f"<li>and {len(found) - IN_A_CELL} more</li>" if len(found) > IN_A_CELL else ""
    hidden = "" if chosen else " hidden"
    return (
        f'<section data-list="{cell[0]}-{cell[1]}"{hidden}><p class="matrix-title"><b>{title}</b> ({len(found)}); '
        f"how sure it was:</p><ul>{items}{more}</ul></section>"
    )


def _line(text: str) -> str:
    line = " ".join(text.split())
    return html.escape(line if len(line) <= LINE else line[: LINE - 1] + "…")

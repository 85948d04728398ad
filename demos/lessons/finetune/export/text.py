"""What the part "Keep it" says of a run: one sentence, and its key numbers."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from demos.figures.run_table import score_text
from demos.training.export.run_log import Log
from demos.training.results.history import Record

MOST = 60  # characters of a data set's name


def _name(text: str) -> str:
    line = " ".join(text.split())
    return html.escape(line if len(line) <= MOST else line[: MOST - 1] + "…")


def invitation_html(model: str) -> str:
    """Before any run: what will be here, and what is here already."""
    return (
        '<p class="keep-run">You have not trained a model yet. Once you have, its folder for transformers is here, '
        "with its model card, and can go to your account on the Hub.</p>"
        f'<p class="aside">The program and the command below need no run: they train the first recipe of '
        f"“Train” on {html.escape(model)}.</p>"
    )


def run_title(record: Record, last: bool) -> str:
    """A run in the menu of runs, as plain text: "Run 2, the last: 91.0% accuracy on Emotion"."""
    data = " ".join(record.data.split())
    data = data if len(data) <= MOST else data[: MOST - 1] + "…"
    metric, value = record.headline
    return f"Run {record.number}{', the last' * last}: {score_text(metric, value)} {metric} on {data}"


def gone_html(numbers: Sequence[int], most: int) -> str:
    """Which runs' models are no longer kept, in a sentence; "" for none."""
    if not numbers:
        return ""
    shown = [f"{number:,}" for number in numbers]
    which = f"run {shown[0]}" if len(shown) == 1 else f"runs {', '.join(shown[:-1])} and {shown[-1]}"
    s = "s" * (len(shown) > 1)
    return (
        f'<p class="aside" role="status">The model{s} of {which} had to make room: this page keeps the last {most}, '
        "and fewer where they are large or many people train.</p>"
    )


def run_html(log: Log, last: bool = True) -> str:
    """The run in a sentence, its scores large."""
    which = "last" if last else "earlier"
    train, _, test = log.sizes
    stopped = f", stopped after {log.steps:,} of {log.total_steps:,} steps" if log.stopped else ""
    numbers = "".join(
        f"<li><b>{score_text(name, value)}</b> {html.escape(name)}</li>"
        for name, value in log.metrics.items()
        if value is not None
    )
    return (
        f'<p class="keep-run">Your {which} run: <b>{_name(log.base_title)}</b> on <b>{_name(log.data_name)}</b>, '
        f"{train:,} examples, {log.seconds:,.0f} seconds{stopped}. On {test:,} test examples:</p>"
        f'<ul class="cost">{numbers}</ul>'
    )


def loaded_html(told: str) -> str:
    """How the folder is loaded, in the words of `how_loaded`."""
    return f'<p class="keep-loaded">{html.escape(told)}</p>'


def pushed_html(address: str) -> str:
    """Where the model is now; only an https address becomes a link."""
    shown = html.escape(address)
    link = f'<a href="{shown}" target="_blank" rel="noopener">{shown}</a>' if address.startswith("https://") else shown
    return f"<p>It is there: {link}</p>"


def contents_html(contents: Mapping[str, str]) -> str:
    """What is in the folder, file by file."""
    rows = "".join(
        f'<tr><th scope="row"><code>{html.escape(name)}</code></th><td>{html.escape(told)}</td></tr>'
        for name, told in contents.items()
    )
    return f'<table class="keep-contents"><caption>What is in the folder</caption><tbody>{rows}</tbody></table>'

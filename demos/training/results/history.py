"""The record of a finished run: its settings, its cost, its scores, its curve; as a table and as CSV."""

import csv
import hashlib
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from demos.training.data.splits import Splits
from demos.training.events import Outcome, Result, Started
from demos.training.presets import OF_A_RUN, idle_fields
from demos.training.settings import Settings
from demos.training.tasks.multi_label.task import MultiLabelResult, given
from demos.training.tasks.multiple_choice.task import ChoiceResult
from demos.training.tasks.one_of_several import likeliest
from demos.training.tasks.question_answering.events import SpanResult
from demos.training.tasks.question_answering.scores import exact_match
from demos.training.tasks.question_answering.task import text_of

MAX_STEPS = 200  # of a curve; in longer runs neighbours are averaged
# Where a spreadsheet may take what follows for a formula: where a cell begins, and, since some countries' Excel parts
# cells at semicolons whatever quotes are around, after a sign that may part them. The last four are Japanese Excel's.
_FORMULA = re.compile("^(?=[\t\r])|(^|[;\t\r\n])(?=[^\\S\t\r\n]*[=+\\-@\uff1d\uff0b\uff0d\uff20])")


@dataclass(frozen=True)
class Record:
    """One run, plain and picklable."""

    run: str  # the id under which its model may still be kept
    number: int  # 1, 2, … in this reader's page
    time: str  # when it ended: UTC, ISO 8601
    model: str  # title
    kind: str  # of task
    data: str  # name
    examples: tuple[int, int, int]  # to train on, to watch, to test
    settings: Mapping[str, Any] = field(hash=False)  # every field of Settings; gradio hashes what a page remembers
    parameters: int
    trainable: int
    metric: str  # the metric of the curve's score
    metrics: Mapping[str, float] = field(hash=False)  # on the test examples, the headline first
    loss: float  # on the test examples
    steps: int  # done
    total_steps: int
    stopped: str  # "" where every step was done, else "asked" or "time"
    seconds: float
    examples_per_second: float
    device: str
    precision: str
    threads: int
    curve: tuple[tuple[float, float | None], ...]  # (epoch, training loss), MAX_STEPS of them at most
    looks: tuple[tuple[float, float | None, float | None], ...]  # (epoch, validation loss, validation score)
    test: str  # a fingerprint of the test examples: two runs with the same one had the same test
    right: str = field(default="", repr=False)  # "1" or "0" for each of them; "" where an answer has no right or wrong
    head: int = 0  # of all parameters, those of the layers on top
    source: str = ""  # the id of the data set it was tested on (`Splits.source`); "" of a person's file

    @property
    def headline(self) -> tuple[str, float]:
        """The first of its metrics."""
        return next(iter(self.metrics.items()))

    @property
    def choices(self) -> dict[str, object]:
        """The possible differences between two runs: model, data, its amount, and the settings in use."""
        acting = {name: value for name, value in self.settings.items() if name not in OF_A_RUN}
        for name in idle_fields(Settings(**self.settings), self.kind):
            acting.pop(name, None)
        return {"model": self.model, "data": self.data, "training examples": self.examples[0], **acting}


def record_of(
    run: str,
    number: int,
    model: str,
    kind: str,
    dataset: Splits,
    settings: Settings,
    started: Started,
    result: Outcome,
    steps: Sequence[Sequence[float | None]],
    looks: Sequence[Sequence[float | None]],
    stopped: str = "",
) -> Record:
    """The record to keep of a finished run.

    `model` is the base's title. `steps` are the curve's points (step, loss, …), `looks` its looks at the validation
    examples (step, training loss, validation loss, validation score, …). `stopped` is a `Stopped`'s reason.
    """
    an_epoch = max(1, started.steps_per_epoch)
    return Record(
        run=run,
        number=number,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        model=model,
        kind=kind,
        data=dataset.name,
        examples=(len(dataset.train), len(dataset.validation), len(dataset.test)),
        settings=asdict(settings),
        parameters=started.parameters,
        trainable=started.trainable_parameters,
        metric=started.metric,
        metrics=dict(result.metrics),
        loss=result.loss,
        steps=result.steps,
        total_steps=started.total_steps,
        stopped=stopped,
        seconds=result.seconds,
        examples_per_second=result.examples_per_second,
        device=started.device,
        precision=started.precision,
        threads=started.threads,
        curve=_thinned([(float(step or 0) / an_epoch, loss) for step, loss, *_ in steps]),
        looks=tuple((float(step or 0) / an_epoch, loss, score) for step, _, loss, score, *_ in looks),
        test=hashlib.sha256(repr(dataset.test).encode("utf-8", "surrogatepass")).hexdigest()[:16],
        head=started.head_parameters,
        right=_right(dataset, result),
        source=dataset.source,
    )


def differences(records: Sequence[Record]) -> tuple[str, ...]:
    """The `choices` that are not the same in all of them, in the order of the first record that has each."""
    chosen = [record.choices for record in records]
    names = dict.fromkeys(name for choices in chosen for name in choices)
    missing = object()
    return tuple(
        name for name in names if any(choices.get(name, missing) != chosen[0].get(name, missing) for choices in chosen)
    )


def record_from(plain: Mapping[str, Any]) -> Record:
    """A record from its fields as JSON keeps them (`dataclasses.asdict`)."""
    values = dict(plain)
    values["examples"] = tuple(values["examples"])
    values["settings"] = values["settings"] | {"hidden": tuple(values["settings"]["hidden"])}
    values |= {name: tuple(map(tuple, values[name])) for name in ("curve", "looks")}
    return Record(**values)


def as_csv(records: Sequence[Record]) -> str:
    """One row for each run, every setting and every result in a separate column, by RFC 4180.

    Text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    metrics = dict.fromkeys(name for record in records for name in record.metrics)
    settings = dict.fromkeys(name for record in records for name in record.settings)
    rows = [
        {
            "run": record.number,
            "time (UTC)": record.time,
            "model": record.model,
            "task": record.kind,
            "data": record.data,
            **dict(zip(("training examples", "validation examples", "test examples"), record.examples, strict=True)),
            **{name: record.settings.get(name, "") for name in settings},
            "parameters": record.parameters,
            "trainable parameters": record.trainable,
            "parameters of the head": record.head,
            **{f"test {name}": record.metrics.get(name, "") for name in metrics},
            "test loss": record.loss,
            "steps": record.steps,
            "steps planned": record.total_steps,
            "stopped": record.stopped,
            "seconds": round(record.seconds, 2),
            "examples a second": round(record.examples_per_second, 1),
            "device": record.device,
            "precision used": record.precision,
            "threads used": record.threads,
        }
        for record in records
    ]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    if rows:
        writer.writerow([_cell(name) for name in rows[0]])
        writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return written.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, tuple):
        value = " ".join(map(str, value))
    return _FORMULA.sub(r"\1'", value) if isinstance(value, str) else value


def _thinned(points: Sequence[tuple[float, float | None]]) -> tuple[tuple[float, float | None], ...]:
    """At most MAX_STEPS points: the means of so many neighbours, at the last one's place."""
    width = -(-len(points) // MAX_STEPS) or 1
    means = []
    for at in range(0, len(points), width):
        group = points[at : at + width]
        values = [value for _, value in group if value is not None]
        means.append((group[-1][0], sum(values) / len(values) if values else None))
    return tuple(means)


def _right(dataset: Splits, result: Outcome) -> str:
    """The test examples that were answered correctly."""
    if isinstance(result, Result | ChoiceResult):
        right = [likeliest(row) == example.label for row, example in zip(result.answers, dataset.test, strict=False)]
    elif isinstance(result, MultiLabelResult):  # all labels of a sentence
        right = [given(row) == example.labels for row, example in zip(result.answers, dataset.test, strict=False)]
    elif isinstance(result, SpanResult):
        tau = result.null.chosen.tau if result.null else math.inf
        right = [
            exact_match("" if answer.gap > tau else text_of(answer, example), example.answers or ("",))
            for answer, example in zip(result.answers, dataset.test, strict=False)
        ]
    else:
        return ""
    return "".join("01"[hit] for hit in right) if len(result.answers) == len(dataset.test) else ""

"""The data of "Train" before a training: its columns, its examples, the score of guessing."""

from typing import Any

from demos.errors import UserError
from demos.training.data.columns.mapping import with_sheet
from demos.training.data.splits import Splits, validation_as_test
from demos.training.form_values import UPLOAD, read_dataset
from demos.training.look import look_at, look_at_hub
from demos.training.settings import Settings
from demos.training.sources import reader_of
from demos.training.tasks.registry import task_of
from demos.widgets.column_picker.figure import picker_html
from demos.widgets.live_curve.live_curve import idle_message
from demos.widgets.tasks.examples import lent_html
from demos.widgets.tasks.registry import own_tokenizer, view_of
from demos.widgets.tasks.task_view import TaskView


def axes(dataset: Splits) -> str:
    """Empty axes with the baseline on this data."""
    task = task_of(dataset, Settings())
    validation = validation_as_test(dataset)
    beaten = task.baseline(validation), len(task.labels), task.mean_loss(validation)
    return idle_message(task.metric, *beaten, task.loss_name)


def data_html(view: TaskView, dataset: Splits, tokenizer: Any, model: str) -> str:
    """The data, tokenized by the chosen model's tokenizer or, if that is not at hand, by the bundled one."""
    lent = lent_html(model) if view.cut and tokenizer is None else ""
    return view.data(dataset, tokenizer or own_tokenizer()) + lent


def column_html(kind: str, data: str, file: Any, test_file: Any, hub: str, columns: str, *drawn: Any) -> str:
    """The column picker of a file or a data set of the Hub; "" for one of which nothing can be made, as the data says.

    `drawn` is what `read_dataset` takes beside these.
    """
    try:
        look = look_at(file, kind, columns) if data == UPLOAD else look_at_hub(hub, kind, columns)
        sheet = with_sheet("", look.sheet) if look.sheet else ""
        likely = look_at(file, chosen=sheet) if data == UPLOAD else look
    except UserError:
        return ""
    if look.mapping is None:
        return ""
    refused = ""
    if not look.problem:
        try:
            read_dataset(kind, data, file, test_file, hub, columns, *drawn)
        except UserError as error:
            refused = str(error)
    task = view_of(likely.kind).word if likely.kind != kind and likely.sure and not look.rating else ""
    return picker_html(look, reader_of(kind).columns, columns, refused, task, own_tokenizer())

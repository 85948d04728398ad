"""The tasks as the page offers them (each folder here with VIEWS), and the data sets and the tokenizer for them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.files import modules_in
from demos.training.sources import SOURCES
from demos.widgets.tasks.task_view import TaskView

BOXES = 3  # try-it boxes on the page, of which a task uses as many as it needs
_ALL: list[TaskView] = [view for module in modules_in("demos.widgets.tasks", "view").values() for view in module.VIEWS]
VIEWS: Mapping[str, TaskView] = {view.kind: view for view in sorted(_ALL, key=lambda view: view.order)}


def view_of(kind: str) -> TaskView:
    """The task of this kind. Raises UserError for one that is not offered."""
    if kind not in VIEWS:
        raise UserError(f"There is no task called {str(kind)[:40]!r} here.")
    return VIEWS[kind]


@cache
def own_tokenizer() -> Any:
    """The bundled model's tokenizer, BERT's own word pieces: what cuts examples where no other is at hand."""
    return ModelStore().tokenizer(BUNDLED)


def bundled(kind: str) -> list[tuple[str, str]]:
    """Our own data sets for a kind of task: (title, key), as a menu takes them."""
    return [(source.title, key) for key, source in SOURCES.items() if source.kind == kind]

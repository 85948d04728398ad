"""A new task is one new folder: dropped in, it is found by its data, by its kept name, and by its files' kind."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from demos.training import sources, tasks
from demos.training.data.splits import Splits
from demos.training.settings import Settings
from demos.training.tasks import registry

DATA = """
from dataclasses import dataclass
from demos.training.data.readers import Reader
from demos.training.data.splits import Splits, Item, split_items
from demos.training.data.tables import TEXT

@dataclass(frozen=True)
class Haiku(Splits[str]):
    pass

def rows(records):
    return [Item(record.number, record["text"], "", "", record["text"]) for record in records]

def build(name, rows, seed, max_train):
    return Haiku(name, *split_items(rows, seed, max_train))

READERS = (Reader("haiku", "A column named text.", (TEXT,), rows, build),)
"""
TASK = """
from demos.training.tasks.siamese.task import Siamese
from demos.training.tasks.haiku.data import Haiku

class TASK(Siamese):
    kind, data = "haiku", Haiku

    @classmethod
    def of(cls, dataset, settings):
        return cls()
"""


@pytest.fixture
def haiku(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The two modules that look for folders, read again with a folder more."""
    folder = tmp_path / "haiku"
    folder.mkdir()
    for name, text in (("data", DATA), ("task", TASK)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(tasks, "__path__", [*tasks.__path__, str(tmp_path)])
        before = dict(vars(registry)), dict(vars(sources))
        importlib.reload(registry), importlib.reload(sources)
        yield
    vars(registry).update(before[0])
    vars(sources).update(before[1])
    for name in [name for name in sys.modules if name.startswith(f"{tasks.__name__}.haiku")]:
        del sys.modules[name]


@pytest.mark.usefixtures("haiku")
def test_a_folder_is_a_task(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "".join(f"an old pond {k}\n" for k in range(30)), encoding="utf-8")
    data = sources.load_file("haiku", path)
    assert isinstance(data, Splits)
    assert len(data.train) + len(data.validation) + len(data.test) == 30
    task = registry.task_of(data, Settings())
    assert task.kind == "haiku"
    assert type(registry.read_task("haiku", {"pooling": "cls"})) is type(task)


def test_every_task_has_a_name_of_its_own_and_data() -> None:
    kinds = [task.kind for task in registry.TASKS]
    assert len(set(kinds)) == len(kinds) == 7
    assert len({task.data for task in registry.TASKS}) == 7
    with pytest.raises(TypeError, match="no task is known for str"):
        registry.task_of("text", Settings())  # type: ignore[arg-type]

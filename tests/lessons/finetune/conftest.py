"""What the tests of "Train" share."""

from collections.abc import Iterator

import pytest

from demos.bert.model.models import LoadedModel
from demos.training.service import training_service
from tests.lessons.finetune.bare_page import TSV, Bare
from tests.lessons.finetune.room import Room
from tests.page.tiny_store import TinyStore


@pytest.fixture(scope="module")
def bare(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Bare:
    files = tmp_path_factory.mktemp("tiny")
    return Bare(TinyStore.written(tiny, files))


@pytest.fixture(scope="module")
def upload(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("upload") / "films.tsv"
    path.write_text(TSV, encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def quick() -> Iterator[None]:
    """A quick look at the line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_service, "LOOK_SECONDS", 0.01)
        yield


@pytest.fixture(scope="module")
def room(quick: None, tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Room:
    return Room(tiny, tmp_path_factory.mktemp("tiny"))

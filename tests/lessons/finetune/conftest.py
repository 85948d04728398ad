"""What the tests of "Train" share."""

from __future__ import annotations

import pytest

from demos.bert.model.models import LoadedModel
from tests.lessons.finetune.wired import TSV, Wired
from tests.page.tiny_store import TinyStore


@pytest.fixture(scope="module")
def wired(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Wired:
    files = tmp_path_factory.mktemp("tiny")
    return Wired(TinyStore.written(tiny, files))


@pytest.fixture(scope="module")
def upload(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("upload") / "films.tsv"
    path.write_text(TSV)
    return str(path)

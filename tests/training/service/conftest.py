"""What the tests of kept runs share."""

import json

import pytest

from demos.files import DATA
from demos.training.results.history import Record, record_from


@pytest.fixture(scope="module")
def record() -> Record:
    """A record as a run leaves it."""
    plain = json.loads((DATA / "runs.json").read_text(encoding="utf-8"))["records"][0]
    return record_from(plain | {"run": "a-run"})

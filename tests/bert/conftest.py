"""A random DistilBERT, for what has to know its names, too."""

import pytest

from demos.bert.model.models import LoadedModel
from tests.made_up import distilbert


@pytest.fixture(scope="session")
def distil(tiny: LoadedModel) -> LoadedModel:
    """Never changed."""
    return distilbert(tiny.tokenizer)

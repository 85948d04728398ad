"""Which heads two menus ask for, and when the second model must be waited for."""

import pytest

from demos.bert.attention.comparison import Which
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.run import RunCache
from demos.errors import UserError
from demos.page.services import Sentence, Services
from demos.widgets.comparison.sides import ComparisonForm, pair_of, which


def test_two_menus_and_a_model_with_fewer_heads(tiny: LoadedModel) -> None:
    run = RunCache().get(tiny, "Rain.")  # 2 layers of 4 heads
    assert which(run, "1", "3") == Which(1, 3)
    assert which(run, "11", "11") == Which(1, 3)
    assert which(run, "0", "mean") == Which(0, None)
    assert which(run, "all", "2") == Which()


def test_only_a_model_that_is_not_in_memory_is_waited_for(store: ModelStore, bundled: LoadedModel) -> None:
    services = Services(store, bundled.spec.key)
    rest = ("", "0", "0")
    assert not ComparisonForm("", "models", "minilm", *rest).waits(services)
    assert not ComparisonForm("", "models", "", *rest).waits(services)
    assert ComparisonForm("", "models", "bert-tiny", *rest).waits(services)
    assert not ComparisonForm("", "sentences", "bert-tiny", *rest).waits(services)
    with pytest.raises(UserError, match="no model 'gpt'"):
        ComparisonForm("", "models", "gpt", *rest).waits(services)


def test_each_of_two_sentences_is_read_alone(store: ModelStore, bundled: LoadedModel) -> None:
    services = Services(store, bundled.spec.key)
    pair = pair_of(
        services, Sentence("Rain fell.", "Snow fell.", ""), ComparisonForm("", "sentences", "", "no", "0", "1")
    )
    assert [side.run.encoding.text for side in (pair.left, pair.right)] == ["Rain fell.", "Snow fell."]
    assert not pair.right.run.encoding.text_pair
    assert pair.comparison.alignment.names == ("[CLS]", "Rain → Snow", "fell", ".", "[SEP]")
    assert pair.left.which == pair.right.which == Which(0, 1)

"""Parameters and operations counted by hand from a configuration are those of transformers' own models."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertForPreTraining, BertModel, DistilBertConfig, DistilBertModel

from demos.bert.encoder.size import (
    KNOWN,
    Shape,
    count_parameters,
    memory,
    pretraining_heads,
    shape_of,
    total_parameters,
    work_per_token,
)
from demos.bert.model.models import LoadedModel


def config_of(shape: Shape) -> BertConfig:
    return BertConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.feed_forward,
    )


def counted(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("shape", KNOWN, ids=lambda shape: shape.name)
def test_the_totals_are_the_real_models(shape: Shape) -> None:
    with torch.device("meta"):  # no memory, no time
        model = BertModel(config_of(shape))
        whole = BertForPreTraining(config_of(shape))
    assert total_parameters(shape) == counted(model)
    assert total_parameters(shape) + pretraining_heads(shape) == counted(whole)
    assert shape_of(shape.name, model) == Shape(
        shape.name, shape.layers, shape.width, shape.heads, inner=shape.feed_forward
    )


def test_each_part_is_the_modules_own(bundled: LoadedModel) -> None:
    shape = shape_of("bundled", bundled.model)
    assert total_parameters(shape) == counted(bundled.model)
    by_group: dict[str, int] = {}
    for count in count_parameters(shape):
        by_group[count.group] = by_group.get(count.group, 0) + count.total
    layers = bundled.model.encoder.layer
    assert by_group == {
        "Embeddings": counted(bundled.model.embeddings),
        "Attention": sum(counted(layer.attention) for layer in layers),
        "Feed-forward": sum(counted(layer.intermediate) + counted(layer.output) for layer in layers),
        "Pooler": counted(bundled.model.pooler),
    }


def test_distilbert_has_no_segments_and_no_pooler() -> None:
    with torch.device("meta"):
        model = DistilBertModel(DistilBertConfig(dim=64, n_layers=2, n_heads=4, hidden_dim=128))
    shape = shape_of("distil", model)
    assert (shape.segments, shape.pooler) == (0, False)
    assert total_parameters(shape) == counted(model)


@pytest.mark.parametrize("tokens", [5, 64])
def test_the_operations_are_those_pytorch_counts(tokens: int) -> None:
    shape = Shape("any", 3, 64, 4, vocabulary=100)
    model = BertModel(config_of(shape), add_pooling_layer=False)
    model.set_attn_implementation("eager")
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        model(torch.zeros(1, tokens, dtype=torch.long))
    assert work_per_token(shape, tokens).total * tokens == counter.get_total_flops()


def test_heads_cost_memory_for_their_weights_and_nothing_else() -> None:
    few, many = Shape("few", 2, 64, 2), Shape("many", 2, 64, 8)
    assert total_parameters(few) == total_parameters(many)
    assert work_per_token(few, 10) == work_per_token(many, 10)
    assert memory(many, 10).attention == 4 * memory(few, 10).attention == 2 * 8 * 10 * 10 * 4
    assert memory(few, 10).training == 4 * memory(few, 10).weights

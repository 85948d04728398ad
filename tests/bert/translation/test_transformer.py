"""Both stacks against PyTorch's own layers: states, logits, loss and gradients."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, layer_norm, scaled_dot_product_attention

from demos.bert.translation.gru import PADDING
from demos.bert.translation.transformer import Attention, FeedForward, Transformer
from demos.bert.translation.transformer_places import (
    ADDED,
    ATTENTION,
    CROSS,
    DECODER,
    EMBEDDED,
    ENCODER,
    FED,
    FED_ADDED,
    OUTPUT,
    Place,
    computed_at,
    places,
    row_vectors,
)

WIDTH, HEADS, INNER, LAYERS = 8, 2, 12, 2
MAPS = ("query", "key", "value")
SOURCE = torch.tensor([[3, 4, 5, 6, 7], [7, 3, 4, PADDING, PADDING]])
WORDS = torch.tensor([[1, 5, 4, 3], [1, 6, 3, PADDING]])
WANTED = torch.tensor([[5, 4, 3, 2], [6, 3, 2, PADDING]])


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    made = Transformer(9, 8, LAYERS, HEADS, WIDTH, INNER).double()
    for name, parameter in made.named_parameters():
        if "norm" in name:  # else gains are 1 and offsets 0, and could be exchanged
            nn.init.normal_(parameter)
    return made


def fill(theirs: nn.MultiheadAttention, ours: Attention) -> None:
    maps = ours.query, ours.key, ours.value
    theirs.in_proj_weight.data = torch.cat([one.weight.data for one in maps])
    theirs.in_proj_bias.data = torch.cat([one.bias.data for one in maps])
    theirs.out_proj.load_state_dict(ours.output.state_dict())


def fill_rest(theirs: nn.Module, feed_forward: FeedForward, norms: list[nn.LayerNorm]) -> None:
    theirs.linear1.load_state_dict(feed_forward[0].state_dict())
    theirs.linear2.load_state_dict(feed_forward[2].state_dict())
    for number, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())


def reference(ours: Transformer) -> nn.Transformer:
    """nn.Transformer with the same weights; its stacks end without a further norm, as in the paper."""
    options = {"dim_feedforward": INNER, "dropout": 0.0, "batch_first": True, "dtype": torch.float64}
    theirs = nn.Transformer(WIDTH, HEADS, LAYERS, LAYERS, **options)
    theirs.encoder.norm = theirs.decoder.norm = None
    for to, layer in zip(theirs.encoder.layers, ours.encoder, strict=True):
        fill(to.self_attn, layer.attention)
        fill_rest(to, layer.feed_forward, [layer.attention_norm, layer.feed_forward_norm])
    for to, layer in zip(theirs.decoder.layers, ours.decoder, strict=True):
        fill(to.self_attn, layer.attention)
        fill(to.multihead_attn, layer.cross)
        fill_rest(to, layer.feed_forward, [layer.attention_norm, layer.cross_norm, layer.feed_forward_norm])
    return theirs


def codes(length: int) -> Tensor:
    """Section 3.5, number by number."""
    rows = [[place / 10_000 ** (2 * (at // 2) / WIDTH) for at in range(WIDTH)] for place in range(length)]
    angles = torch.tensor(rows, dtype=torch.float64)
    even = torch.arange(WIDTH) % 2 == 0
    return torch.where(even, angles.sin(), angles.cos())


def run(ours: Transformer, theirs: nn.Transformer) -> tuple[Tensor, Tensor]:
    """(their encoder's states, their logits), from our embeddings and our output layer."""
    read, wrote = (
        table(ids) * WIDTH**0.5 + codes(ids.shape[1]) for table, ids in ((ours.source, SOURCE), (ours.target, WORDS))
    )
    absent = SOURCE == PADDING
    later = torch.ones(4, 4, dtype=torch.bool).triu(1)
    states = theirs.encoder(read, src_key_padding_mask=absent)
    rows = theirs.decoder(wrote, states, tgt_mask=later, memory_key_padding_mask=absent)
    return states, ours.output(rows)


def loss_of(logits: Tensor) -> Tensor:
    return cross_entropy(logits.flatten(0, 1), WANTED.flatten(), ignore_index=PADDING)


def test_states_logits_loss_and_gradients_are_pytorchs(model: Transformer) -> None:
    theirs = reference(model).train()  # eval() takes a path that zeroes the rows of padding
    states, logits = run(model, theirs)
    read = model.read(SOURCE)
    present = SOURCE != PADDING
    torch.testing.assert_close(read.states[present], states[present], atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(model(SOURCE, WORDS), logits, atol=1e-6, rtol=1e-6)
    loss = loss_of(model(SOURCE, WORDS))
    assert loss.item() == pytest.approx(loss_of(logits).item(), abs=1e-7)
    loss.backward()
    ours = {name: one.grad.clone() for name, one in model.named_parameters()}
    model.zero_grad()
    loss_of(logits).backward()  # embeddings and output layer are ours there too
    expected = {name: model.get_parameter(name).grad for name in ours if not name.startswith(("encoder", "decoder"))}
    assert len(expected) == 4
    for stack, own in (("encoder", theirs.encoder), ("decoder", theirs.decoder)):
        for number, layer in enumerate(own.layers):
            found = gradients_of(layer)
            expected |= {f"{stack}.{number}.{name}": gradient for name, gradient in found.items()}
    assert expected.keys() == ours.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(ours[name], gradient, atol=1e-6, rtol=1e-6)


def gradients_of(layer: nn.Module) -> dict[str, Tensor]:
    """The gradients of one of PyTorch's layers, under our names."""
    attention = {"attention": layer.self_attn} | ({"cross": layer.multihead_attn} if hasattr(layer, "norm3") else {})
    modules = {"feed_forward.0": layer.linear1, "feed_forward.2": layer.linear2}
    modules |= {f"{name}.output": one.out_proj for name, one in attention.items()}
    norms = [*(f"{name}_norm" for name in attention), "feed_forward_norm"]
    modules |= {name: getattr(layer, f"norm{number}") for number, name in enumerate(norms, start=1)}
    found = {f"{name}.{kind}": getattr(one, kind).grad for name, one in modules.items() for kind in ("weight", "bias")}
    for name, one in attention.items():
        for kind, whole in (("weight", one.in_proj_weight.grad), ("bias", one.in_proj_bias.grad)):
            parts = whole.chunk(3)
            found |= {f"{name}.{asked}.{kind}": part for asked, part in zip(MAPS, parts, strict=True)}
    return found


def seen_in(module: nn.Module) -> dict[str, Tensor]:
    """What goes into a module of PyTorch's and what comes out of it, of the first sentence, once it has run."""
    seen: dict[str, Tensor] = {}

    def note(_: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        seen["in"], seen["out"] = inputs[0][0], output[0]

    module.register_forward_hook(note)
    return seen


@pytest.mark.parametrize(
    "place", [place for place in places(LAYERS) if place.step != ATTENTION and place.kind != OUTPUT]
)
def test_the_other_boxes_compute_what_pytorchs_layers_do(model: Transformer, place: Place) -> None:
    theirs = reference(model).train()
    stack = theirs.encoder if place.kind == ENCODER else theirs.decoder
    layer = stack.layers[place.layer]
    norms = {
        (ENCODER, ADDED): "norm1",
        (DECODER, ADDED): "norm1",
        (CROSS, ADDED): "norm2",
        (ENCODER, FED_ADDED): "norm2",
    }
    norm = getattr(layer, norms.get((place.kind, place.step), "norm3" if place.kind != ENCODER else "norm2"))
    first, second, normed, entered = (seen_in(one) for one in (layer.linear1, layer.linear2, norm, stack))
    with torch.no_grad():
        run(model, theirs)
        read = model.read(SOURCE)
        computed = computed_at(place, read, model.write(read, WORDS))
        rows = [row_vectors(computed, row) for row in range(4)]
    found = {name: torch.from_numpy(np.stack([row[name] for row in rows])) for name in rows[0]}
    if place.step == EMBEDDED:
        ids, table = (SOURCE, model.source) if place.kind == ENCODER else (WORDS, model.target)
        expected = {
            "words": table.weight[ids[0, :4]].detach() * WIDTH**0.5,
            "positions": codes(4),
            "output": entered["in"][:4],
        }
    elif place.step == FED:
        expected = {"rows": first["in"], "before": first["out"], "hidden": second["in"], "output": second["out"]}
    else:
        total = normed["in"][:4]
        assert set(found) == {
            "rows", "sublayer", "total", "mean", "scale", "normalized", "gain", "offset", "output"
        }  # fmt: skip
        expected = {
            "total": total,
            "mean": total.mean(-1, keepdim=True),
            "scale": 1 / (total.var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt(),
            "normalized": layer_norm(total, (WIDTH,)),
            "output": normed["out"],
        }
        torch.testing.assert_close(found["rows"] + found["sublayer"], total, atol=1e-6, rtol=1e-6)
        shown = found["normalized"] * found["gain"] + found["offset"]
        torch.testing.assert_close(shown, normed["out"][:4], atol=1e-6, rtol=1e-6)
    for name, values in expected.items():
        torch.testing.assert_close(found[name], values[:4].detach(), atol=1e-6, rtol=1e-6)


def test_each_step_of_attention_is_what_it_is_called(model: Transformer) -> None:
    read = model.read(SOURCE)
    written = model.write(read, WORDS)
    for layer, block in zip(written.layers, model.decoder, strict=True):
        for attended, hidden in (
            (layer.attention, torch.ones(4, 4, dtype=torch.bool).triu(1).expand(2, 1, 4, 4)),
            (layer.cross, read.absent[:, None, None].expand(2, 1, 4, 5)),
        ):
            sums = scaled_dot_product_attention(attended.queries, attended.keys, attended.values, attn_mask=~hidden)
            torch.testing.assert_close(attended.sums, sums)
            torch.testing.assert_close(attended.weights @ attended.values, sums)
            assert (attended.weights[hidden.expand_as(attended.weights)] == 0).all()
        # every decoder layer reads the top of the encoder, and asks from its own layer's self-attention
        cross = block.cross
        torch.testing.assert_close(layer.cross.keys.transpose(1, 2).flatten(2), cross.key(read.states))
        torch.testing.assert_close(layer.cross.values.transpose(1, 2).flatten(2), cross.value(read.states))
        torch.testing.assert_close(
            layer.cross.queries.transpose(1, 2).flatten(2), cross.query(layer.attention_added.output)
        )
    torch.testing.assert_close(written.weights, written.layers[-1].cross.weights.mean(1))


def test_one_word_at_a_time_equals_all_at_once(model: Transformer) -> None:
    read = model.read(SOURCE)
    together = model.write(read, WORDS).logits
    state = None
    for at in range(WORDS.shape[1]):
        written = model.write(read, WORDS[:, at : at + 1], state)
        state = written.state
        torch.testing.assert_close(written.logits[:, 0], together[:, at])


def test_a_later_word_changes_nothing_before_it(model: Transformer) -> None:
    other = WORDS.clone()
    other[:, 2] = 7
    one, two = model(SOURCE, WORDS), model(SOURCE, other)
    assert torch.equal(one[:, :2], two[:, :2])
    assert not torch.allclose(one[:, 2], two[:, 2])

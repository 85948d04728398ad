"""Both stacks against PyTorch's own layers: states, logits, loss and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from demos.bert.translation.gru import PADDING
from demos.bert.translation.transformer import Attention, FeedForward, Transformer

WIDTH, HEADS, INNER, LAYERS = 8, 2, 12, 2
SOURCE = torch.tensor([[3, 4, 5, 6, 7], [7, 3, 4, PADDING, PADDING]])
WORDS = torch.tensor([[1, 5, 4, 3], [1, 6, 3, PADDING]])
WANTED = torch.tensor([[5, 4, 3, 2], [6, 3, 2, PADDING]])


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(9, 8, LAYERS, HEADS, WIDTH, INNER).double()


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
    of_tables = {name: one.grad.clone() for name, one in model.named_parameters() if "." not in name[7:]}
    model.zero_grad()
    loss_of(run(model, theirs)[1]).backward()
    assert len(of_tables) == 4
    for name, gradient in of_tables.items():  # embeddings and output layer: what has passed through both stacks
        torch.testing.assert_close(gradient, model.get_parameter(name).grad, atol=1e-6, rtol=1e-6)
    model.zero_grad()
    loss_of(model(SOURCE, WORDS)).backward()
    for to, layer in zip(theirs.decoder.layers, model.decoder, strict=True):
        maps = (layer.cross.query, layer.cross.key, layer.cross.value)
        ours_grad = torch.cat([one.weight.grad for one in maps])
        torch.testing.assert_close(ours_grad, to.multihead_attn.in_proj_weight.grad, atol=1e-6, rtol=1e-6)
        torch.testing.assert_close(layer.feed_forward[0].weight.grad, to.linear1.weight.grad, atol=1e-6, rtol=1e-6)
    for to, layer in zip(theirs.encoder.layers, model.encoder, strict=True):
        torch.testing.assert_close(
            layer.attention.output.weight.grad, to.self_attn.out_proj.weight.grad, atol=1e-6, rtol=1e-6
        )


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
        torch.testing.assert_close(layer.cross.queries.transpose(1, 2).flatten(2), cross.query(layer.after_attention))
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

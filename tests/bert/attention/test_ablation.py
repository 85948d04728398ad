"""Heads switched off: proven zero by this file's own hook, equal to W^O without its columns, the model untouched."""

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.attention import ablation
from demos.bert.attention.ablation import (
    effect_of_each,
    read_heads,
    run_without,
    sentence_vectors,
    sharing_weights,
    switched_off,
    write_heads,
)
from demos.bert.embeddings.similarity import cosine
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.errors import UserError

TEXTS = ("The ferry left without its captain.", "Rain.")
OFF = frozenset({(0, 1), (1, 0), (1, 3)})


@pytest.fixture(params=["tiny", "distil"])
def either(request: pytest.FixtureRequest) -> LoadedModel:
    loaded: LoadedModel = request.getfixturevalue(request.param)
    return loaded


def encodings(loaded: LoadedModel) -> list[Encoding]:
    return [encode(loaded.tokenizer, text) for text in TEXTS]


def mixing_layers(model: Any) -> list[torch.nn.Linear]:
    """Each layer's W^O, found by its name in the weights' own file."""
    modules = dict(model.named_modules())
    names = [n for n in modules if n.endswith(("attention.output.dense", "attention.out_lin"))]
    return [modules[name] for name in names]


@contextmanager
def inputs_of_mixing(model: Any) -> Iterator[list[torch.Tensor]]:
    """What goes into each W^O while the block runs: forward hooks on a clone, none of the module under test."""
    seen: list[torch.Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda _m, args, _o: seen.append(args[0].clone())) for layer in mixing_layers(model)
    ]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def forward(model: Any, encoding: Encoding) -> torch.Tensor:
    with torch.inference_mode():
        return model(torch.tensor([encoding.input_ids])).last_hidden_state


def test_a_switched_off_heads_output_is_zero_and_no_other(either: LoadedModel) -> None:
    encoding = encodings(either)[0]
    with inputs_of_mixing(whole := copy.deepcopy(either.model)) as before:
        forward(whole, encoding)
    with inputs_of_mixing(model := switched_off(either, [OFF])) as after:
        forward(model, encoding)
    assert len(before) == len(after) == 2
    for layer, (old, new) in enumerate(zip(before, after, strict=True)):
        for head in range(4):
            z = np.s_[:, :, head * 8 : head * 8 + 8]
            assert old[z].abs().min() > 0
            if (layer, head) in OFF:
                assert (new[z] == 0).all()
            else:
                assert (new[z] != 0).all()
            if layer == 0 and (layer, head) not in OFF:  # its input is what it was
                assert torch.equal(old[z], new[z])
    assert not torch.equal(before[1], after[1])  # what follows is computed anew


def test_equals_the_model_without_the_heads_columns_of_the_mixing_matrix(either: LoadedModel) -> None:
    reference = copy.deepcopy(either.model)
    with torch.no_grad():
        for layer, head in OFF:
            mixing_layers(reference)[layer].weight[:, head * 8 : head * 8 + 8] = 0
    (run, _) = run_without(either, encodings(either), OFF)
    with torch.inference_mode():
        theirs = reference(torch.tensor([run.encoding.input_ids]), output_hidden_states=True, output_attentions=True)
    for ours, layer in zip(run.hidden_states, theirs.hidden_states, strict=True):
        np.testing.assert_allclose(ours, layer[0].numpy(), atol=1e-6)
    for ours, layer in zip(run.attentions, theirs.attentions, strict=True):
        np.testing.assert_allclose(ours, layer[0].numpy(), atol=1e-6)
    whole = run_model(either, encodings(either))[0]
    assert np.array_equal(run.attentions[0], whole.attentions[0])
    assert np.abs(run.attentions[1] - whole.attentions[1]).max() > 1e-6


def test_nothing_off_is_the_same_run_to_the_bit(bundled: LoadedModel) -> None:
    before, after = (run(bundled, encodings(bundled)) for run in (run_model, lambda m, e: run_without(m, e, ())))
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one.hidden_states, other.hidden_states)
        assert np.array_equal(one.attentions, other.attentions)


def test_the_clone_shares_every_weight_and_the_hooks_stay_on_it(bundled: LoadedModel) -> None:
    clone = sharing_weights(bundled.model)
    ours, theirs = (dict([*m.named_parameters(), *m.named_buffers()]) for m in (clone, bundled.model))
    assert ours.keys() == theirs.keys()
    assert all(ours[name].data_ptr() == theirs[name].data_ptr() for name in ours)
    assert {id(module) for module in clone.modules()}.isdisjoint(id(module) for module in bundled.model.modules())
    run_without(bundled, encodings(bundled), {(0, 2)})
    assert not any(module._forward_pre_hooks for module in bundled.model.modules())


def test_others_use_the_model_meanwhile(tiny: LoadedModel) -> None:
    expected = run_model(tiny, encodings(tiny))
    ablated = run_without(tiny, encodings(tiny), OFF)
    wrong: list[str] = []

    def repeat(run: Callable[[], list[Any]], reference: list[Any]) -> None:
        for _ in range(25):
            if not np.array_equal(run()[0].hidden_states, reference[0].hidden_states):
                wrong.append("changed")

    jobs = [
        (lambda: run_model(tiny, encodings(tiny)), expected),
        (lambda: run_without(tiny, encodings(tiny), OFF), ablated),
    ]
    threads = [threading.Thread(target=repeat, args=job) for job in jobs * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert not np.allclose(expected[0].hidden_states, ablated[0].hidden_states)


def test_each_head_alone_in_batches_equals_one_run_each(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = encodings(tiny)[0]
    monkeypatch.setattr(ablation, "BATCH_TOKENS", 3 * len(encoding))
    heads = [(layer, head) for layer in range(2) for head in range(4)]
    batches = list(effect_of_each(tiny, encoding, heads))
    assert [len(batch) for batch in batches] == [3, 3, 2]
    whole = run_model(tiny, [encoding])[0].hidden_states[-1].mean(axis=0)
    for batch in batches:
        for head, change in batch.items():
            alone = run_without(tiny, [encoding], {head})[0].hidden_states[-1].mean(axis=0)
            theirs = 1 - torch.cosine_similarity(torch.tensor(whole), torch.tensor(alone), dim=0).item()
            assert change == pytest.approx(theirs, abs=1e-6)
            assert change > 1e-7


def test_what_a_head_changes_begins_behind_its_layer(bundled: LoadedModel) -> None:
    before = run_model(bundled, encodings(bundled))[0]
    after = run_without(bundled, encodings(bundled), {(2, 5)})[0]
    changed = cosine(before.hidden_states, after.hidden_states)
    assert changed.shape == (7, len(before.encoding))
    assert (changed[:3] == 1).all()  # layer 2 writes hidden state 3
    assert (changed[3:] < 1).all()
    theirs = torch.cosine_similarity(torch.tensor(before.hidden_states), torch.tensor(after.hidden_states), dim=-1)
    np.testing.assert_allclose(changed, theirs.numpy(), atol=1e-5)


def test_sentence_vectors_are_the_means_of_the_runs_without_padding(either: LoadedModel) -> None:
    for off in (frozenset(), OFF):
        vectors = sentence_vectors(either, encodings(either), [off])
        for encoding, vector in zip(encodings(either), vectors, strict=True):
            alone = run_without(either, [encoding], off)[0].hidden_states[-1].mean(axis=0)
            np.testing.assert_allclose(vector, alone, atol=1e-6)


@pytest.mark.parametrize("written", ["1.3, 4.8", " 4.8;1.3 ", "1.3\n4.8 1.3", "4.8,1.3,"])
def test_heads_are_read_and_written(written: str) -> None:
    assert read_heads(written) == {(0, 2), (3, 7)}
    assert write_heads(read_heads(written)) == "1.3, 4.8"
    assert read_heads("") == read_heads(None) == frozenset()


@pytest.mark.parametrize(
    "written", ["2", "0-2", "a.b", "1.2.3", "0.2", "1.0", "1.2 <b>", "-1.0", "٣.٤", "1." + "9" * 9]
)
def test_what_is_no_head_is_refused(written: str) -> None:
    with pytest.raises(UserError, match="is not a head"):
        read_heads(written)


def test_what_is_too_much_is_refused(tiny: LoadedModel) -> None:
    with pytest.raises(UserError, match="the limit is 4,000"):
        read_heads("0.1," * 1_001)
    for head in ((2, 0), (0, 4), (-1, 0)):
        with pytest.raises(UserError, match="There is no head"):
            run_without(tiny, encodings(tiny), {head})
    with pytest.raises(UserError, match="too many to test"):
        next(effect_of_each(tiny, encodings(tiny)[0], [(0, 0)] * 145))
    with pytest.raises(UserError, match="The input has 102 tokens; here the limit is 96"):
        next(effect_of_each(tiny, encode(tiny.tokenizer, "word " * 100), [(0, 0)]))

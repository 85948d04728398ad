"""What the attention views send, and the time to make it, beside bertviz's own `head_view(html_action="return")`."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

import torch
from bertviz import head_view
from transformers import BertConfig, BertModel

from demos.bert.attention.queries_keys import queries_and_keys
from demos.bert.model.catalogue import BUNDLED, ModelSpec
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.run import Run, run_model
from demos.widgets.bertviz.messages import frame_message, largest_error
from demos.widgets.bertviz.views import VIEWS

TOKENS = 64
RUNS = 5
SENTENCE = "the lamp went out and nobody moved until the rain had stopped . "
PAIR = "then someone lit a match . "


def timed(make: Callable[[], int]) -> tuple[int, float]:
    """Bytes made, and the median seconds of making them."""
    size, seconds = 0, []
    for _ in range(RUNS):
        began = time.perf_counter()
        size = make()
        seconds.append(time.perf_counter() - began)
    return size, statistics.median(seconds)


def base_sized(store: ModelStore) -> LoadedModel:
    """BERT-base's shape with random weights: what is sent depends on the shape alone."""
    torch.manual_seed(0)
    model = BertModel(BertConfig())
    model.set_attn_implementation("eager")
    spec = ModelSpec("random", "Random", "", "", 12, 12, 768, cased=False)
    return LoadedModel(spec, store.tokenizer(BUNDLED), model.eval().requires_grad_(False))


def compare(loaded: LoadedModel, run: Run) -> None:
    """Print one line a view, and the ratios to bertviz's own page."""
    attention = [torch.from_numpy(layer.copy())[None] for layer in run.attentions]
    tokens = list(run.encoding.tokens)
    start = run.encoding.sentence_b_start

    def theirs() -> int:
        html = head_view(attention, tokens, sentence_b_start=start, html_action="return")
        return len(html.data.encode())

    their_size, their_time = timed(theirs)
    shape = f"{run.num_layers} x {run.num_heads} x {len(tokens)} x {len(tokens)}{', a pair' if start else ''}"
    print(f"{shape}: bertviz's own page {their_size / 1e6:.2f} MB in {their_time * 1000:.0f} ms")
    for name, what in (("head", "one layer"), ("neuron", "one layer, queries and keys"), ("model", "all layers")):

        def ours(name: str = name) -> int:
            message = frame_message(run, VIEWS[name], 0, 0, lambda layer: queries_and_keys(loaded, run, layer))
            return len(json.dumps(message))

        size, seconds = timed(ours)
        print(
            f"  {name} view, {what}: {size / 1e6:.3f} MB in {seconds * 1000:.1f} ms; "
            f"{their_size / size:.0f} times smaller, {their_time / seconds:.0f} times sooner"
        )
    print(f"  largest error in a weight: {largest_error(run.attentions):.5f}")


def main(short: bool = False) -> None:
    """The bundled model and BERT base's shape, a sentence and a pair; in short a small model and sentence."""
    torch.set_num_threads(1)
    store, tokens = ModelStore(), 12 if short else TOKENS
    for loaded in (store.get(BUNDLED),) if short else (store.get(BUNDLED), base_sized(store)):
        for pair in ("", PAIR * 5):
            encoding = encode(loaded.tokenizer, SENTENCE * 5, pair, max_length=tokens)
            assert len(encoding) == tokens
            compare(loaded, run_model(loaded, [encoding])[0])


if __name__ == "__main__":
    main()

"""How good our own pre-training heads are, on text files that they were not trained on, beside two baselines.

`python tests/benchmarks pretraining FILE …`: text, one paragraph a line, an empty line between documents; or lines of
two sentences with a tab between them. Of the two files that the heads were trained on (see assets/pretraining), the
documents that were held out are read alone. SEQUENCES=400 and LENGTH=128 in the environment say how much is asked.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertForPreTraining

from demos.bert.catalogue import BUNDLED
from demos.bert.cores import cores
from demos.bert.models import LoadedModel, ModelStore
from demos.bert.pretraining.heads import our_heads
from demos.training.pretraining.corpus import corpus_of, read_documents
from demos.training.pretraining.measuring import Measured, by_frequency, draw_instances, measure
from demos.training.pretraining.parts import Parts

SEQUENCES, LENGTH = (int(os.environ.get(name, least)) for name, least in (("SEQUENCES", "1000"), ("LENGTH", "128")))
SEED = 7
HELD_OUT = {"books": 12, "wikisplit": 500}  # the last documents of each file


def main(files: Sequence[Path]) -> None:
    """A table for each file: commonest token, the heads before training, and as shipped."""
    if not files:
        print("name a text file: one paragraph a line, an empty line between documents")
    torch.set_num_threads(cores())
    loaded = ModelStore().get(BUNDLED)
    ours = our_heads(loaded)
    models = {"heads before training": untrained(loaded), "as shipped": Parts.of(ours)}
    for path in files:
        documents = read_documents(path)
        held = HELD_OUT.get(path.name.partition(".")[0])
        corpus = corpus_of(deque(documents, maxlen=held) if held else documents, loaded.tokenizer)
        instances = draw_instances(corpus, loaded.tokenizer, SEQUENCES, LENGTH, SEED)
        print(f"{path.name}: {len(corpus.documents)} documents, {SEQUENCES} sequences of up to {LENGTH} tokens")
        print_row("commonest tokens", by_frequency(instances))
        for name, parts in models.items():
            print_row(name, measure(parts, loaded.tokenizer, instances))


def print_row(name: str, found: Measured) -> None:
    """One line of the table."""
    print(
        f"  {name:<22} top-1 {found.top1:.3f} ([MASK] alone {found.top1_masked:.3f}), top-5 {found.top5:.3f}, "
        f"cross-entropy {found.cross_entropy:.2f} over {found.chosen:,} tokens; next sentence {found.following:.3f}",
        flush=True,
    )


def untrained(loaded: LoadedModel) -> Parts:
    """The bundled encoder as it is, under heads drawn at random as BERT's code begins."""
    config = type(loaded.model.config).from_dict(loaded.model.config.to_dict())
    config.tie_word_embeddings = True
    torch.manual_seed(SEED)
    whole = BertForPreTraining(config).eval().requires_grad_(False)
    predictions = whole.cls.predictions
    predictions.decoder.weight = loaded.model.get_input_embeddings().weight
    return Parts(
        loaded.model, predictions.transform, predictions.decoder, whole.bert.pooler, whole.cls.seq_relationship
    )

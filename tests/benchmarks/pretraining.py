"""How good our own pre-training heads are, on text files that they were not trained on, beside two baselines.

`python tests/benchmarks pretraining FILE …`: text, one paragraph a line, an empty line between documents; or lines of
two sentences with a tab between them; or the paragraphs of a file in SQuAD's form (.json), an article a document. Of
the two files that the heads were trained on (see assets/pretraining), the documents that were held out are read alone,
and the documents before them say which threshold the next-sentence head would need. A text that hides rare words as
[UNK] is read once more without them. SEQUENCES=400 and LENGTH=128 in the environment say how much is asked.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BertForPreTraining

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.cores import cores
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.pretraining.corruption import MASK
from demos.bert.pretraining.heads import our_heads
from demos.bert.pretraining.next_sentence import IS_NEXT, NOT_NEXT
from demos.training.pretraining.batches import Instance, collate
from demos.training.pretraining.model_parts import Parts
from demos.training.pretraining.offline.corpus import corpus_of, read_documents, sentences_of
from demos.training.pretraining.offline.measuring import (
    Measured,
    batches_of,
    draw_instances,
    margins_of,
    measure,
    summary,
)

SEQUENCES, LENGTH = (int(os.environ.get(name, least)) for name, least in (("SEQUENCES", "1000"), ("LENGTH", "128")))
SEED = 7
HELD_OUT = {"books": 12, "wikisplit": 500}  # the last documents of each file
TRAINED_ON = {"books": 60, "wikisplit": 15_000}  # as many before those, at most, for the threshold


def main(files: Sequence[Path]) -> None:
    """A table for each file: commonest token, the heads before training, and as shipped."""
    if not files:
        print("name a text file: one paragraph a line, an empty line between documents")
    torch.set_num_threads(cores())
    loaded = ModelStore().get(BUNDLED)
    ours = Parts.of(our_heads(loaded))
    for path in files:
        name = path.name.partition(".")[0]
        held = HELD_OUT.get(name, 0)
        documents = list(deque(documents_of(path), maxlen=held + TRAINED_ON[name] if held else None))
        table(path.name, documents[-held:], {"heads before training": untrained(loaded), "as shipped": ours}, loaded)
        if any("[UNK]" in sentence for document in documents[-held:] for sentence in document):
            left = [without_unknown(document) for document in documents[-held:]]
            table(f"{path.name} without its [UNK]", left, {"as shipped": ours}, loaded)
        if held:
            print_threshold(documents[:-held], ours, loaded.tokenizer)


def table(name: str, documents: Sequence[Sequence[str]], models: dict[str, Parts], loaded: LoadedModel) -> None:
    """What the commonest tokens and each model reach on sequences drawn from `documents`."""
    corpus = corpus_of(documents, loaded.tokenizer)
    instances = draw_instances(corpus, loaded.tokenizer, SEQUENCES, LENGTH, SEED)
    print(f"{name}: {len(corpus.documents)} documents, {SEQUENCES} sequences of up to {LENGTH} tokens")
    print_row("commonest tokens", by_frequency(instances))
    for title, parts in models.items():
        print_row(title, measure(parts, loaded.tokenizer, instances))


def documents_of(path: Path) -> Iterator[list[str]]:
    """The documents of a file, each as its sentences."""
    if path.suffix != ".json":
        yield from read_documents(path)
        return
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        yield [sentence for paragraph in article["paragraphs"] for sentence in sentences_of(paragraph["context"])]


def without_unknown(document: Sequence[str]) -> list[str]:
    """The sentences without [UNK]; those that were nothing else are gone."""
    kept = [" ".join(sentence.replace("[UNK]", " ").split()) for sentence in document]
    return [sentence for sentence in kept if sentence]


def print_threshold(documents: Sequence[Sequence[str]], parts: Parts, tokenizer: Any) -> None:
    """Whether the next-sentence head leans to one answer on what it was trained on."""
    instances = draw_instances(corpus_of(documents, tokenizer), tokenizer, SEQUENCES, LENGTH, SEED)
    margins = all_margins(parts, tokenizer, instances)
    following = np.array([one.following for one in instances])
    right = float(((margins > 0) == (following == IS_NEXT)).mean())
    best, reached = threshold_of(margins, following)
    print(
        f"  {len(documents)} documents before those, trained on: next sentence {right:.3f} with the threshold 0, "
        f"{reached:.3f} with {best:.2f}, the best there",
        flush=True,
    )


def all_margins(parts: Parts, tokenizer: Any, instances: list[Instance]) -> np.ndarray:
    """How much higher IsNext scores than NotNext in each instance, <float64>[S]; above 0 the answer is IsNext."""
    margins: list[float] = []
    for rows in batches_of(instances):
        batch = collate(rows, tokenizer.pad_token_id)
        with torch.inference_mode():
            hidden = parts.states(batch.input_ids, batch.attention_mask, batch.token_type_ids)
            margins += margins_of(parts.next_logits(hidden)).tolist()
    return np.array(margins)


def threshold_of(margins: np.ndarray, following: np.ndarray) -> tuple[float, float]:
    """(threshold, accuracy): the margin above which IsNext is said to be right most often on these S pairs.

    `margins` is <float>[S] as `all_margins` gives them, `following` <int>[S] their labels. A threshold fitted so on
    other text than it is used on tells whether the head leans to one answer everywhere.
    """
    order = np.argsort(margins)
    is_next = following[order] == IS_NEXT
    # A cut behind the k lowest margins is right about the false parts below it and the true ones above.
    right = np.concatenate([[0], np.cumsum(~is_next)]) + np.concatenate([np.cumsum(is_next[::-1])[::-1], [0]])
    cut = int(np.argmax(right))
    bounds = np.concatenate([[-np.inf], margins[order], [np.inf]])
    return float(bounds[cut : cut + 2].mean()), float(right[cut] / len(margins))


def by_frequency(instances: list[Instance]) -> Measured:
    """What the commonest tokens of these very answers reach: the best that a guess without context could do.

    Its cross-entropy is the entropy of the answers, and its next-sentence accuracy that of the commoner label.
    """
    answers = np.concatenate([instance.corruption.labels[instance.corruption.chosen] for instance in instances])
    kinds = np.concatenate([instance.corruption.kinds[instance.corruption.chosen] for instance in instances])
    ids, counts = np.unique(answers, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rank_of = dict(zip(ids[order].tolist(), range(len(ids)), strict=True))
    share_of = dict(zip(ids.tolist(), (counts / counts.sum()).tolist(), strict=True))
    ranks = np.array([rank_of[answer] for answer in answers.tolist()])
    losses = -np.log([share_of[answer] for answer in answers.tolist()])
    following = np.array([instance.following for instance in instances])
    commoner = IS_NEXT if 2 * int((following == IS_NEXT).sum()) >= len(following) else NOT_NEXT
    return summary(ranks, losses, kinds == MASK, following, following == commoner)


def print_row(name: str, found: Measured) -> None:
    """One line of the table."""
    print(
        f"  {name:<22} top-1 {found.top1:.3f} ([MASK] alone {found.top1_masked:.3f}), top-5 {found.top5:.3f}, "
        f"cross-entropy {found.cross_entropy:.2f} over {found.chosen:,} tokens; next sentence {found.following:.3f} "
        f"({found.following_recall[0]:.3f} of the true second parts, {found.following_recall[1]:.3f} of the false)",
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

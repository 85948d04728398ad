"""Tiny models with random weights in the place of the Hub's well-known ones, in folders as the Hub has them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from transformers import (
    BertConfig,
    BertForTokenClassification,
    BertTokenizer,
    DistilBertConfig,
    DistilBertForQuestionAnswering,
    DistilBertForSequenceClassification,
    DistilBertTokenizer,
)

from demos.training.ready.hub_models import HUB_MODELS, HubModel

TEXTS = (
    "My name is Sylvain and I work at Hugging Face in Brooklyn.",
    "I hate this so much!",
    "Ada Lovelace met Mr. Babbage of Cambridge; they talked in London, on 5 June.",
    "brooklyn Brooklyn, work: Sylvain",
)
QUESTION = "Where do I work?"
LABELS = ("O", "B-MISC", "I-MISC", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC")  # as dslim/bert-base-NER
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SMALL: dict[str, Any] = {"initializer_range": 0.8, "max_position_embeddings": 512}


def vocabulary() -> dict[str, int]:
    """Some whole words, and letters for all others, which so become many pieces."""
    letters = sorted({sign for text in (*TEXTS, QUESTION) for sign in text + text.lower()} - {" "})
    words = ("my", "name", "is", "and", "I", "work", "at", "in", "hate", "this", "so", "London", "Hugging", "Face")
    names = dict.fromkeys((*SPECIAL, *letters, *(f"##{sign}" for sign in letters), *words))
    return {name: at for at, name in enumerate(names)}


def spec(kind: str) -> HubModel:
    """Its entry: of a repository of ours, at a revision of forty a."""
    return replace(HUB_MODELS[kind], hub_id=f"someone/{kind}", revision="a" * 40)


def write(kind: str, folder: Path) -> Path:
    """The folder, with the weights as safetensors."""
    torch.manual_seed(5)
    words = vocabulary()
    if kind == "entities":
        small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
        labels = {"id2label": dict(enumerate(LABELS)), "label2id": {name: at for at, name in enumerate(LABELS)}}
        model: Any = BertForTokenClassification(BertConfig(vocab_size=len(words), **labels, **small, **SMALL))
    else:
        small = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24}
        labels = {"id2label": {0: "NEGATIVE", 1: "POSITIVE"}, "label2id": {"NEGATIVE": 0, "POSITIVE": 1}}
        config = DistilBertConfig(vocab_size=len(words), **small, **SMALL, **(labels if kind == "sentence" else {}))
        classes = {"sentence": DistilBertForSequenceClassification, "question": DistilBertForQuestionAnswering}
        model = classes[kind](config)
    model.eval().save_pretrained(folder)
    tokenizer_class = BertTokenizer if kind == "entities" else DistilBertTokenizer
    tokenizer_class(vocab=words, do_lower_case=kind == "sentence").save_pretrained(folder)
    return folder

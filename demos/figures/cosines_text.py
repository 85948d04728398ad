"""What the Embeddings lesson calls a pooling and a layer, and what a model was tuned for (plain text)."""

from __future__ import annotations

from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, POOLER, SUM_ALL, SUM_LAST_FOUR, Choice
from demos.bert.model.catalogue import CATALOGUE, ModelSpec

POOLING_NAMES = {"cls": "[CLS]", "mean": "mean", "mean_no_special": "mean of words", "max": "max", POOLER: "pooler"}
LAYER_NAMES: dict[int | str, str] = {
    SUM_ALL: "sum of all layers",
    SUM_LAST_FOUR: "sum of the last four layers",
    CONCAT_LAST_FOUR: "last four layers side by side",
}
NEARLY_SAME = 0.99  # a cosine


def choice_name(choice: Choice, deepest: int) -> str:
    """ "mean, last hidden layer (6)", as the page speaks of a choice."""
    where: dict[int | str, str] = {0: "embedding output (0)", deepest: f"last hidden layer ({deepest})", **LAYER_NAMES}
    return f"{POOLING_NAMES[choice.pooling]}, {where.get(choice.layer, f'layer {choice.layer} of {deepest}')}"


def tuned_for(spec: ModelSpec) -> str:
    """Which pooling this model was trained for, in one sentence; "" for a model this project knows nothing of."""
    if spec.key not in CATALOGUE:
        return ""
    if not spec.hub_id:
        return (
            "MiniLM was tuned on sentence pairs with mean pooling: its [CLS] was not trained to stand for the "
            "sentence. So what you see here is not what an un-tuned BERT does."
        )
    if spec.nsp:
        return (
            f"{spec.title} was never tuned to compare sentences: its [CLS] learned to answer whether two "
            "sentences follow each other, and no training asked its mean for anything."
        )
    return f"{spec.title} was never tuned to compare sentences: neither its [CLS] nor its mean."

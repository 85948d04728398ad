"""The question about the reasons for pooling before a classifier."""

from __future__ import annotations

from demos.lessons.finetune.train.poolings import measured
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

CLASSES = 6


def measured_facts() -> dict[str, object]:
    """The cost and accuracy of each pooling, measured once (see assets/data/pooling.md), as the answer's facts."""
    results = measured()
    facts: dict[str, object] = {"seeds": results["seeds"]}
    for pooling, row in results["poolings"].items():
        facts |= {f"{pooling}_head": f"{row['head']:,}", f"{pooling}_seconds": f"{row['seconds']:.0f}"}
        facts[f"{pooling}_accuracy"] = f"{row['accuracy']:.1%}"
    return facts


def answer(services: Services, sentence: Sentence) -> Answer:
    """The weights of a linear classifier with and without pooling, without its biases."""
    _, tokens, width = services.run(sentence).hidden_states.shape
    sizes = {"pooled": CLASSES * width, "unpooled": CLASSES * tokens * width}
    return Answer(facts=measured_facts() | {"tokens": tokens} | {name: f"{size:,}" for name, size in sizes.items()})

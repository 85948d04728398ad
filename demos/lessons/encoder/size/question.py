"""The question about the change that adds no parameters."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The size of the reader's model."""
    model = services.loaded(sentence.model).model
    config = model.config
    return Answer(
        facts={
            "parameters": f"{sum(weights.numel() for weights in model.parameters()):,}",
            "layers": config.num_hidden_layers,
            "width": config.hidden_size,
            "heads": config.num_attention_heads,
            "head_width": config.hidden_size // config.num_attention_heads,
        }
    )

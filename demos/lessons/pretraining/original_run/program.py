"""Both losses of the page's batch, and their sum, as a program with transformers."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.lessons.pretraining.program_loss import loss_lines
from demos.training.pretraining.batches import Instance

WORDS = """words = torch.nn.functional.cross_entropy(  # the mean over the chosen tokens
    output.prediction_logits.flatten(0, 1), padded(labels, -100).flatten())
print("masked words", round(words.item(), 3))
print("next sentence", round((output.loss - words).item(), 3))
"""


def losses_code(spec: ModelSpec, instances: Sequence[Instance]) -> str:
    """Prints the two losses, where the model has both heads, and the loss of the batch.

    `spec` is the encoder's own, as in `Pretrained`.
    """
    both = WORDS if all(instance.following is not None for instance in instances) else ""
    return f"""{loss_lines(spec, instances, gradient=False)}{both}print("loss", round(output.loss.item(), 3))
"""

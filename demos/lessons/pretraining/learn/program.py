"""One step of pre-training as a program with transformers: the page's batch, loss, gradient and moved words."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.lessons.pretraining.program_loss import loss_lines
from demos.training.pretraining.batches import Instance
from demos.training.pretraining.learner import CLIP, DECAY, EPSILON


def learn_code(spec: ModelSpec, instances: Sequence[Instance], rate: float) -> str:
    """Prints the loss, the gradient's norms, and the five words that moved farthest in one AdamW step.

    `spec` is the encoder's own, as in `Pretrained`; `instances` are the step's.
    """
    body, layers = ("distilbert", "transformer.layer") if not spec.segments else ("bert", "encoder.layer")
    return f"""{loss_lines(spec, instances)}output.loss.backward()
print("loss", round(output.loss.item(), 4))
for name, part in [("embeddings", model.{body}.embeddings), *enumerate(model.{body}.{layers})]:
    print(name, round(torch.stack([weight.grad.norm() for weight in part.parameters()]).norm().item(), 4))
print("all", round(torch.nn.utils.clip_grad_norm_(model.parameters(), {CLIP:g}).item(), 4))

matrix = model.get_input_embeddings().weight  # the output layer's too
before = matrix.detach().clone()
spared = ("bias", "LayerNorm.weight", "layer_norm.weight", "embeddings.weight")  # no decay
named = [(name, weight) for name, weight in model.named_parameters() if weight.grad is not None]
torch.optim.AdamW([
    {{"params": [weight for name, weight in named if not name.endswith(spared)], "weight_decay": {DECAY:g}}},
    {{"params": [weight for name, weight in named if name.endswith(spared)], "weight_decay": 0.0}},
], lr={rate:g}, eps={EPSILON:g}).step()
moved = (matrix.detach() - before).norm(dim=1)
print("rows moved", int((moved > 0).sum()))
for index in moved.topk(5).indices.tolist():
    print(tokenizer.convert_ids_to_tokens(index), f"{{moved[index].item():.2e}}")
"""

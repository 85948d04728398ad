"""One step of pre-training as a program with transformers: the page's batch, loss, gradient and moved words."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.lessons.pretraining.program_lines import OURS
from demos.training.pretraining.batches import Instance
from demos.training.pretraining.learner import CLIP, DECAY, EPSILON

THEIRS = """import torch
from transformers import {kind}, AutoTokenizer

name, revision = {name!r}, {revision!r}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = {kind}.from_pretrained(name, revision=revision, dtype="float32")
"""


def learn_code(spec: ModelSpec, instances: Sequence[Instance], rate: float) -> str:
    """Prints the loss, the gradient's norms, and the five words that moved farthest in one AdamW step.

    `spec` is the encoder's own, as in `Pretrained`; `instances` are the step's.
    """
    input_ids = [instance.corruption.input_ids.tolist() for instance in instances]
    labels = [instance.corruption.labels.tolist() for instance in instances]
    following = [instance.following for instance in instances if instance.following is not None]
    kind = "AutoModelForPreTraining" if spec.nsp else "AutoModelForMaskedLM"
    begin = THEIRS.format(kind=kind, name=spec.hub_id, revision=spec.revision) if spec.hub_id else OURS
    body, layers = ("distilbert", "transformer.layer") if not spec.segments else ("bert", "encoder.layer")
    extra = ", token_type_ids=padded(segments, 0)" if spec.segments else ""
    extra += f", next_sentence_label=torch.tensor({following})" if following else ""
    starts = [instance.segments.count(0) for instance in instances]
    chosen = [{at: label for at, label in enumerate(row) if label >= 0} for row in labels]
    return f"""{begin}model.requires_grad_(True).eval()  # eval: no dropout, here as on the page

rows = [  # the corrupted sequences
{_lines(input_ids)}]
starts = {starts}  # where the second sentence begins
answers = [  # the true ids at the chosen places
{_lines(chosen)}]
segments = [[int(at >= start) for at in range(len(row))] for row, start in zip(rows, starts)]
labels = [[answer.get(at, -100) for at in range(len(row))] for row, answer in zip(rows, answers)]


def padded(lists, filler):
    longest = max(map(len, lists))
    return torch.tensor([row + [filler] * (longest - len(row)) for row in lists])


output = model(padded(rows, tokenizer.pad_token_id), attention_mask=padded([[1] * len(row) for row in rows], 0),
               labels=padded(labels, -100){extra})
output.loss.backward()
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


def _lines(rows: Sequence[object]) -> str:
    return "".join(f"    {row},\n" for row in rows)

"""Lines that programs of pre-training begin with: the model, a corrupted batch, and the loss by transformers."""

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.lessons.pretraining.program_lines import OURS
from demos.training.pretraining.batches import Instance

THEIRS = """import torch
from transformers import {kind}, AutoTokenizer

name, revision = {name!r}, {revision!r}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = {kind}.from_pretrained(name, revision=revision, dtype="float32")
"""


def loss_lines(spec: ModelSpec, instances: Sequence[Instance], gradient: bool = True) -> str:
    """The lines that end in `output`, transformers' own answer for the batch, with its `loss`.

    `spec` is the encoder's own, as in `Pretrained`; `gradient` is whether one can be taken of it.
    """
    input_ids = [instance.corruption.input_ids.tolist() for instance in instances]
    labels = [instance.corruption.labels.tolist() for instance in instances]
    following = [instance.following for instance in instances if instance.following is not None]
    kind = "AutoModelForPreTraining" if spec.nsp else "AutoModelForMaskedLM"
    begin = THEIRS.format(kind=kind, name=spec.hub_id, revision=spec.revision) if spec.hub_id else OURS
    extra = ", token_type_ids=padded(segments, 0)" if spec.segments else ""
    extra += f", next_sentence_label=torch.tensor({following})" if following else ""
    starts = [instance.segments.count(0) for instance in instances]
    chosen = [{at: label for at, label in enumerate(row) if label >= 0} for row in labels]
    return f"""{begin}model.requires_grad_({gradient}).eval()  # eval: no dropout, here as on the page

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
"""


def _lines(rows: Sequence[object]) -> str:
    return "".join(f"    {row},\n" for row in rows)

"""The Fine-tune lesson's recipe as a program with torch and transformers alone."""

from __future__ import annotations

from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import POOLING, model_lines
from demos.training.settings import Settings

PATHS = {"emotion": "assets/data/emotion.tsv", "sentiment": "assets/data/sentiment.tsv"}


def code_of(spec: ModelSpec, settings: Settings, data: str, kind: str) -> str:
    """`code_for` where it can say what was chosen; else "": a program by the project's own loop says it all."""
    plain = settings.trains != "lora" and settings.optimizer == "adamw" and not settings.class_weights
    if kind != "sentence" or data not in PATHS or not plain:
        return ""
    return code_for(spec, settings, PATHS[data])


def code_for(spec: ModelSpec, settings: Settings, data: str) -> str:
    """A program that trains this recipe on a TSV file with the columns text, label and split, and prints its accuracy.

    Plain on purpose: no batches by length, all word embeddings trained; the same method, not the same digits.
    """
    needed, source = model_lines(spec)
    dropout, before, layers = f"nn.Dropout({settings.dropout:g})", "width", ""
    for width in settings.hidden:
        layers += f"{dropout}, nn.Linear({before}, {width}), nn.Tanh(), "
        before = str(width)
    layers += f"{dropout}, nn.Linear({before}, len(labels))"
    schedule = "constant_with_warmup" if settings.schedule == "constant" else settings.schedule
    return f"""import csv
import random

{needed}import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer, get_scheduler

torch.manual_seed({settings.seed})
random.seed({settings.seed})
epochs, batch_size = {settings.epochs}, {settings.batch_size}
with open({data!r}, encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file, delimiter="\\t"))
train = [row for row in rows if row["split"] == "train"]
test = [row for row in rows if row["split"] == "test"]
labels = sorted({{row["label"] for row in rows}})

# 1 the base model
{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
encoder = AutoModel.from_pretrained(name, revision=revision)
{_frozen(settings)}width = encoder.config.hidden_size

# 3 layers on top
head = nn.Sequential({layers})


def logits_of(batch):
    inputs = tokenizer([row["text"] for row in batch], padding=True, truncation=True,
                       max_length={settings.max_length}, return_tensors="pt")
    states = encoder(**inputs).last_hidden_state  # [batch, tokens, width]
    mask = inputs["attention_mask"][..., None]  # 1 for a token, 0 for padding
    {POOLING[settings.pooling]}  # 2 one vector a sentence
    return head(vectors)


# 4 optimizer and schedule
named = [*encoder.named_parameters(), *head.named_parameters()]
parameters = [p for _, p in named if p.requires_grad]
decayed = {{id(p) for name, p in named if p.ndim > 1 and "embeddings" not in name}}  # no biases, no LayerNorm
optimizer = torch.optim.AdamW([
    {{"params": [p for p in parameters if id(p) in decayed], "weight_decay": {settings.weight_decay:g}}},
    {{"params": [p for p in parameters if id(p) not in decayed], "weight_decay": 0.0}},
], lr={settings.learning_rate:g})
steps = epochs * -(-len(train) // batch_size)
schedule = get_scheduler({schedule!r}, optimizer,
                         num_warmup_steps=int({settings.warmup:g} * steps), num_training_steps=steps)

for epoch in range(epochs):
    encoder.eval(), head.train()  # dropout on top alone
    random.shuffle(train)
    for start in range(0, len(train), batch_size):
        batch = train[start:start + batch_size]
        targets = torch.tensor([labels.index(row["label"]) for row in batch])
        loss = nn.functional.cross_entropy(logits_of(batch), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, {settings.clip:g})
        optimizer.step(), schedule.step(), optimizer.zero_grad()
    print(f"epoch {{epoch + 1}}: last batch's loss {{loss.item():.3f}}")

encoder.eval(), head.eval()
right = 0
with torch.inference_mode():
    for start in range(0, len(test), 64):
        batch = test[start:start + 64]
        answers = logits_of(batch).argmax(dim=-1).tolist()
        right += sum(labels[k] == row["label"] for k, row in zip(answers, batch, strict=True))
print(f"test accuracy {{right / len(test):.3f}}")
"""


def _frozen(settings: Settings) -> str:
    """The lines that freeze what does not train."""
    if settings.trains == "head":
        return "encoder.requires_grad_(False)\n"
    if settings.trains == "top":
        return (
            f"encoder.requires_grad_(False)\n"
            f"layers = encoder.encoder.layer if hasattr(encoder, 'encoder') else encoder.transformer.layer\n"
            f"layers[-{settings.top_layers}:].requires_grad_(True)\n"
        )
    return "encoder.embeddings.requires_grad_(False)\n" if settings.frozen_embeddings else ""

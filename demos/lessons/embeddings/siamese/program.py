"""The siamese training as a program with torch and transformers alone, which prints the page's two correlations."""

from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import POOLING, model_lines, rows_lines
from demos.training.learning.batches import POOL
from demos.training.settings import Settings
from demos.training.tasks.siamese.data import PairDataset

REDRAW = """
# the layers as they were before any training; the embeddings stay
drawn = torch.Generator().manual_seed({seed})
for module in (model.encoder if hasattr(model, "encoder") else model.transformer).modules():
    if isinstance(module, torch.nn.Linear):
        module.weight.data.normal_(0, 0.02, generator=drawn)
        module.bias.data.zero_()
    elif isinstance(module, torch.nn.LayerNorm):
        module.weight.data.fill_(1)
        module.bias.data.zero_()
"""


def siamese_code(spec: ModelSpec, dataset: PairDataset, settings: Settings) -> str:
    """A program with this split, this order of the batches and this optimizer.

    On a CPU in float32 it gives the page's numbers up to rounding; its batches are padded and it trains every word
    embedding, which changes none of them.
    """
    needed, source = model_lines(spec)
    imports, rows = rows_lines(dataset.name, dataset.form)
    redraw = REDRAW.format(seed=settings.seed) if settings.start == "random" else ""
    return f"""import math
{imports}{needed}import torch
from scipy.stats import spearmanr
from transformers import AutoModel, AutoTokenizer

{rows}
held_out = {_wrapped(dataset.held_out_rows)}
train = [at for at in range(len(rows)) if at not in set(held_out)]

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()  # eval: no dropout
{redraw}

def vectors(sentences):
    inputs = tokenizer(sentences, padding=True, truncation=True, max_length={settings.max_length}, return_tensors="pt")
    states = model(**inputs).last_hidden_state  # [sentences, tokens, width]
    mask = inputs["attention_mask"][..., None]  # 1 for a token, 0 for padding
    return {POOLING[settings.pooling].removeprefix("vectors = ")}


def cosines(batch):  # both sentences of each pair through the one model
    return torch.cosine_similarity(vectors([first[at] for at in batch]), vectors([second[at] for at in batch]))


def agreement():
    with torch.inference_mode():
        predicted = [cosine for at in held_out for cosine in cosines([at]).tolist()]
    return round(spearmanr(predicted, [scores[at] for at in held_out]).statistic, 3)


print("before", agreement())
epochs, size, peak = {settings.epochs}, {settings.batch_size}, {settings.learning_rate:g}
steps = epochs * math.ceil(len(train) / size)
warmup = math.ceil({settings.warmup:g} * steps)
tokens = [len(ids) for ids in tokenizer(first)["input_ids"]], [len(ids) for ids in tokenizer(second)["input_ids"]]
longest = [min({settings.max_length}, max(pair)) for pair in zip(*tokens)]
named = [(name, tensor) for name, tensor in model.named_parameters() if not name.startswith("pooler")]
spared = ("bias", "LayerNorm.weight", "layer_norm.weight", "embeddings.weight")
optimizer = torch.optim.AdamW([
    {{"params": [tensor for name, tensor in named if not name.endswith(spared)],
      "weight_decay": {settings.weight_decay:g}}},
    {{"params": [tensor for name, tensor in named if name.endswith(spared)], "weight_decay": 0.0}},
])
order = torch.Generator().manual_seed({settings.seed})
step = 0
for epoch in range(epochs):
    shuffled = [train[at] for at in torch.randperm(len(train), generator=order).tolist()]
    batches = []  # of like lengths: sorted within pools of {POOL} batches
    for start in range(0, len(shuffled), {POOL} * size):
        pool = sorted(shuffled[start:start + {POOL} * size], key=longest.__getitem__)
        batches += [pool[at:at + size] for at in range(0, len(pool), size)]
    for at in torch.randperm(len(batches), generator=order).tolist():
        rate = step / warmup if step < warmup else 1 - (step - warmup) / max(1, steps - warmup)
        for group in optimizer.param_groups:
            group["lr"] = peak * rate
        targets = torch.tensor([scores[pair] / {dataset.top:g} for pair in batches[at]])
        loss = torch.nn.functional.mse_loss(cosines(batches[at]), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([tensor for _, tensor in named], {settings.clip:g})
        optimizer.step()
        optimizer.zero_grad()
        step += 1
print("after", agreement())
"""


def _wrapped(rows: tuple[int, ...]) -> str:
    """A list of numbers over as many lines as it needs."""
    width = 22
    lines = [", ".join(map(str, rows[at : at + width])) for at in range(0, len(rows), width)]
    return "[" + ",\n            ".join(lines) + "]"

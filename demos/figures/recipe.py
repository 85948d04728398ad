"""A training's recipe in pictures and words: the chain of shapes, the learning rate drawn, what Start will cost."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping

from demos.bert.model.catalogue import ModelSpec
from demos.training.cost import Cost
from demos.training.learning.schedule import learning_rate
from demos.training.settings import Settings
from demos.training.tasks.heads import head_parameters

POINTS = 120  # of the drawn learning rate
POOLED = {"mean": "the mean of its tokens", "cls": "its [CLS] vector", "max": "the largest of its tokens"}
TRAINED = {"all": "everything", "top": "the upper layers", "lora": "LoRA", "head": "the head alone"}
# What a field is called in the line that says what was changed.
NAMES = {
    "pooling": "vector", "hidden": "on top", "learning_rate": "learning rate", "batch_size": "batch",
    "weight_decay": "weight decay", "max_length": "most tokens", "top_layers": "upper layers", "lora_rank": "rank",
    "frozen_embeddings": "embeddings", "layer_decay": "layer-wise decay", "class_weights": "class weights",
    "label_smoothing": "label smoothing", "warmup": "warm-up",
}  # fmt: skip


def preset_html(title: str, told: str, changed: Mapping[str, object]) -> str:
    """Which recipe this is, and what in it was changed."""
    if not changed:
        return f"<p>{html.escape(told)}</p>"
    parts = ", ".join(
        f"<b>{setting_name(name)} {setting_value(name, value)}</b>" for name, value in list(changed.items())[:5]
    )
    more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
    warned = " To see what one choice does, change one." if len(changed) > 1 else ""
    return f"<p>“{html.escape(title)}”, but {parts}{more}.{warned}</p>"


def rate_text(rate: float) -> str:
    """A learning rate, as papers write it: "1e-4", "5.2e-5"."""
    mantissa, _, power = f"{rate:.1e}".partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(power)}" if rate else "0"


def setting_name(field: str) -> str:
    """What the page calls a field of Settings, escaped."""
    return html.escape(NAMES.get(field, field.replace("_", " ")))


def setting_value(field: str, value: object) -> str:
    """Its value in words, escaped."""
    if field == "hidden":
        return " + ".join(map(str, value)) if value else "nothing"  # type: ignore[call-overload]
    if field == "pooling":
        return "[CLS]" if value == "cls" else html.escape(str(value))
    if field == "trains":
        return TRAINED.get(str(value), html.escape(str(value)))
    if field == "frozen_embeddings":
        return "frozen" if value else "too"
    if isinstance(value, bool):
        return "on" if value else "off"
    if field == "learning_rate" and isinstance(value, float):
        return rate_text(value)
    return f"{value:g}" if isinstance(value, float) else html.escape(str(value))


def chain_html(kind: str, spec: ModelSpec, settings: Settings, labels: tuple[str, ...]) -> str:
    """From tokens to answers as a chain of shapes, and how many numbers in it are fresh, for a kind of task."""
    width, count = spec.width, len(labels)
    between = "".join(f" → {hidden:,}, {settings.activation}" for hidden in settings.hidden)
    outputs = {"entities": count, "question": 2, "choice": 1}.get(kind, count)
    tokens = f"n tokens × {width:,}"
    chains = {
        "entities": f"{tokens} → each token’s own vector{between} → <b>{count} tags</b>, softmax at each first piece",
        "question": f"{tokens} → each token’s own vector{between} → <b>a start and an end score</b>, softmax over "
        "[CLS] and the text",
        "choice": f"{count} × {tokens} → {count} vectors, each {POOLED[settings.pooling]}{between} → <b>{count} "
        "scores</b>, softmax over them",
    }
    whole = f"{tokens} → {POOLED[settings.pooling]}: {width:,}{between} → <b>{count} classes</b>, softmax"
    fresh = head_parameters(width, settings.hidden, outputs)
    return f"<p>{chains.get(kind, whole)}. {fresh:,} fresh numbers, random at first.</p>"


def rate_html(settings: Settings, steps: int) -> str:
    """The learning rate over the steps, drawn (SVG that stretches; its words are HTML and keep their size)."""
    peak, warm, highest = settings.learning_rate, settings.warmup, rate_text(settings.learning_rate)
    rates = [
        learning_rate(step, steps, peak, warm, settings.schedule)
        for step in (round(k * max(1, steps - 1) / POINTS) for k in range(POINTS + 1))
    ]
    points = " ".join(f"{100 * k / POINTS:.2f},{38 - 36 * rate / peak:.2f}" for k, rate in enumerate(rates))
    up = math.ceil(steps * warm)
    after = "stays" if settings.schedule == "constant" else f"falls to 0 ({settings.schedule})"
    told = f"{up:,} of {steps:,} steps up to {highest}, then it {after}" if up else f"from {highest} it {after}"
    return (
        f'<figure class="rate" role="img" aria-label="Learning rate: {told}"><span class="rate-peak">{highest}</span>'
        '<span class="rate-zero">0</span><svg viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">'
        f'<polygon points="0,38 {points} 100,38"></polygon><polyline points="{points}"></polyline></svg>'
        f"<figcaption>learning rate: {told}</figcaption></figure>"
    )


def cost_html(cost: Cost, told: str) -> str:
    """What pressing Start will do, counted; `told` is how long it will take."""
    facts = (
        f"<b>{cost.steps:,} steps</b>",
        f"trains <b>{millions(cost.trainable_parameters)}</b> of {millions(cost.parameters)} parameters",
        f"<b>{cost.memory.total / 2**20:,.0f} MB</b> of memory",
        f"about <b>{told}</b>",
    )
    return f'<ul class="cost">{"".join(f"<li>{fact}</li>" for fact in facts)}</ul>'


def millions(count: int) -> str:
    """ "11.8 M"; below a million the count itself."""
    return f"{count / 1e6:.1f} M" if count >= 1e6 else f"{count:,}"

"""A training's recipe in pictures and words: the chain of shapes, the learning rate drawn, what Start will cost."""

import math
from collections.abc import Mapping

from demos.bert.model.catalogue import ModelSpec
from demos.templates import templates
from demos.training.compute_cost import Cost
from demos.training.learning.optimizer import learning_rate
from demos.training.presets import IDLE
from demos.training.settings import Settings
from demos.training.tasks.heads import head_parameters

TEXT = templates(__file__, "text_recipe.html")
SHOWN_CHANGES = 5
POINTS = 120  # of the drawn learning rate
POOLED = {
    "mean": "the mean of its tokens",
    "cls": "its [CLS] vector",
    "max": "the maximum over its tokens",
}
TRAINED = {"all": "everything", "top": "the upper layers", "lora": "LoRA", "head": "only the head"}
# The name of each field in the line that says what was changed.
NAMES = {
    "pooling": "sentence vector", "hidden": "layers on top", "learning_rate": "learning rate",
    "batch_size": "batch size", "weight_decay": "weight decay", "max_length": "maximum tokens",
    "top_layers": "upper layers", "lora_rank": "rank", "frozen_embeddings": "embeddings",
    "class_weights": "class weights", "contrast": "pairs first", "warmup": "warm-up",
}  # fmt: skip


def preset_html(title: str, description: str, changed: Mapping[str, object]) -> str:
    """The name of this recipe, and its changed settings."""
    shown = [(setting_name(name), setting_value(name, value)) for name, value in changed.items()][:SHOWN_CHANGES]
    return TEXT.preset(title, description, shown, more=len(changed) - len(shown))


def rate_text(rate: float) -> str:
    """A learning rate, as papers write it: "1e-4", "5.2e-5"."""
    mantissa, _, power = f"{rate:.1e}".partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(power)}" if rate else "0"


def setting_name(field: str) -> str:
    """The name of a field of Settings on the page."""
    return NAMES.get(field, field.replace("_", " "))


def setting_value(field: str, value: object) -> str:
    if field == "hidden":
        return " + ".join(map(str, value)) if value else "none"  # type: ignore[call-overload]
    if field == "frozen_embeddings":
        return "frozen" if value else "trained"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return rate_text(value) if field == "learning_rate" else f"{value:g}"
    words = {"pooling": {"cls": "[CLS]", "none": "no pooling"}, "trains": TRAINED}.get(field, {})
    return words.get(str(value), str(value))


def chain_html(kind: str, spec: ModelSpec, settings: Settings, labels: tuple[str, ...], longest: int = 0) -> str:
    """From tokens to answers as a chain of shapes, and how many numbers in it are fresh, for a kind of task.

    `longest` is the longest sequence in tokens, which counts where nothing is pooled.
    """
    outputs = {"question": 2, "choice": 1, "similarity": 1}.get(kind, len(labels))
    flat = settings.pooling == "none" and "pooling" not in IDLE.get(kind, ())
    read = spec.width * longest if flat else spec.width
    return TEXT.chain(
        kind=kind,
        width=spec.width,
        hidden=settings.hidden,
        pooled=POOLED.get(settings.pooling, ""),
        read=read,
        longest=longest if flat else 0,
        labels=len(labels),
        fresh=head_parameters(read, settings.hidden, outputs),
    )


def rate_html(settings: Settings, steps: int) -> str:
    """The learning rate over the steps, drawn."""
    peak, warmup = settings.learning_rate, settings.warmup
    points = []
    for k in range(POINTS + 1):
        rate = learning_rate(round(k * max(1, steps - 1) / POINTS), steps, peak, warmup, settings.schedule)
        points.append(f"{100 * k / POINTS:.2f},{38 - 36 * rate / peak:.2f}")
    return TEXT.rate(
        highest=rate_text(peak),
        warmup_steps=math.ceil(steps * warmup),
        steps=steps,
        schedule=settings.schedule,
        points=" ".join(points),
    )


def cost_html(cost: Cost, duration: str) -> str:
    """The work started by pressing Start, counted, and its expected time."""
    return TEXT.cost(
        steps=cost.steps,
        trained=millions(cost.trainable_parameters),
        parameters=millions(cost.parameters),
        without_gradient=millions(cost.without_gradient) if cost.without_gradient else "",
        megabytes=cost.memory.total / 2**20,
        duration=duration,
    )


def millions(count: int) -> str:
    """ "11.8 M"; below a million the count itself."""
    return f"{count / 1e6:.1f} M" if count >= 1e6 else f"{count:,}"

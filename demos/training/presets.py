"""Whole recipes to begin with, named by what they do; and what a learner has changed in one."""

from dataclasses import asdict, dataclass, replace

from demos.training.settings import Settings


@dataclass(frozen=True)
class Preset:
    """A recipe under a name."""

    title: str
    description: str  # in one sentence
    settings: Settings


PRESETS: dict[str, Preset] = {
    "quick": Preset(
        "small model",
        "All parameters are trained, with a learning rate that suits the bundled small model. "
        "Where one vector stands for a text, it is the mean of the token vectors; BERT’s paper uses [CLS].",
        Settings(),
    ),
    "cls": Preset(
        "all parameters, [CLS]",
        "As in Devlin et al. 2019, A.3: one layer on top of [CLS], and all parameters are trained for 2 to 4 epochs "
        "with a learning rate of 2e-5 to 5e-5. Unlike the original program, there is no dropout inside the encoder, "
        "and AdamW’s running means are corrected for their initial values.",
        Settings(pooling="cls", learning_rate=5e-5, batch_size=32, epochs=4, max_length=128),
    ),
    "frozen": Preset(
        "frozen encoder",
        "BERT is frozen; only a linear layer on [CLS] is trained (feature extraction).",
        Settings(pooling="cls", trains="head", learning_rate=1e-2, epochs=20, dropout=0.0, weight_decay=0.0),
    ),
    "few": Preset(
        "few examples",
        "This is meant for about ten sentences per class. BERT is first trained on pairs of them, so that the vectors "
        "of one class become similar; then a logistic regression is fitted (as in SetFit, Tunstall et al. 2022).",
        Settings(contrast=True, epochs=10, weight_decay=0.0),
    ),
}
FORMER = {"paper": "cls", "lecture": "frozen"}  # names in links of earlier versions
# Where a task needs more than the quick recipe: its few hundred examples say less each, or are longer.
QUICK: dict[str, dict[str, float | int]] = {
    "entities": {"learning_rate": 5e-4, "epochs": 5},
    "question": {"learning_rate": 2e-4, "epochs": 5, "batch_size": 8, "max_length": 192},
    "similarity": {"learning_rate": 2e-4, "epochs": 6},
    "labels": {"learning_rate": 2e-4, "epochs": 6},
}
# The settings without effect in a task: one vector for all tokens where each has its own, classes where there are none.
IDLE: dict[str, tuple[str, ...]] = {
    "entities": ("pooling", "contrast"),
    "question": ("pooling", "class_weights", "contrast"),
    "choice": ("class_weights", "contrast"),
    "similarity": ("class_weights", "contrast"),
    "labels": ("contrast",),
}
OF_A_RUN = ("clip", "evaluations", "max_seconds", "max_steps", "threads")  # and no choice to compare recipes by


def recipe_for(preset: str, kind: str) -> Settings:
    """The preset's values for this kind of task; an unknown one is the quick one."""
    settings = PRESETS.get(preset, PRESETS["quick"]).settings
    return settings if preset in PRESETS and preset != "quick" else replace(settings, **QUICK.get(kind, {}))  # type: ignore[arg-type]


def changed(settings: Settings, preset: str, kind: str = "sentence") -> dict[str, object]:
    """The fields, with their values, in which these settings are not the preset's; the seed is no part of a recipe.

    A field that does nothing here (the rank of LoRA where something else trains) does not count.
    """
    before, now = asdict(recipe_for(preset, kind)), asdict(settings)
    skipped = {*OF_A_RUN, "seed", "start", *idle_fields(settings, kind)}
    return {name: value for name, value in now.items() if name not in skipped and value != before[name]}


def idle_fields(settings: Settings, kind: str) -> list[str]:
    """The fields that do nothing in this kind of task, or beside the others' values."""
    idle = {
        "top_layers": settings.trains != "top",
        "lora_rank": settings.trains != "lora",
        "frozen_embeddings": settings.trains != "all",
        "contrast": settings.trains == "head",
        "dropout": settings.contrast and settings.trains != "head",
    }
    return [*IDLE.get(kind, ()), *(name for name, is_idle in idle.items() if is_idle)]


def learns_from_pairs(settings: Settings, kind: str) -> bool:
    """Whether the encoder learns from pairs of examples, in this kind of task and beside the others' values."""
    return settings.contrast and "contrast" not in idle_fields(settings, kind)

"""A reader's choices as settings and a data set, from the controls' values or the endpoint's; or an error sentence."""

from typing import Any

from demos.errors import UserError
from demos.training.data.splits import MAX_TRAIN, Splits
from demos.training.data.tables import read_rows
from demos.training.settings import Settings
from demos.training.sources import SOURCES, load_file, load_hub
from demos.training.tasks.classification.data import build_dataset

OWN, UPLOAD, HUB = "emotion", "file", "hub"  # where the examples come from; besides OWN, any key of SOURCES
LEAST_TRAIN = 10  # the least that "most training examples" may be
NO_NUMBER = "A setting is empty or not a number."
AWAITED = "Choose a CSV, Excel or JSON file first."
UNNAMED = "Enter the name of a data set on the Hub first (owner/name)."
# The controls, in the order of `read_settings`; most are called as their field of Settings.
RECIPE = (
    "pooling", "hidden", "dropout", "trains", "top_layers", "lora_rank", "optimizer", "learning_rate", "epochs",
    "schedule", "warmup", "batch_size", "weight_decay", "max_length", "class_weights", "contrast", "seed",
)  # fmt: skip
FROZEN_EMBEDDINGS = "but_embeddings"  # what `trains` says where everything but the embeddings does


def read_settings(*chosen: Any) -> Settings:
    """The controls' values, in the order of RECIPE, as Settings. Raises UserError where one is out of bounds."""
    values = dict(zip(RECIPE, chosen, strict=True))
    try:
        widths = [int(width) for width in str(values.pop("hidden") or "").split(",") if width]
        values = {name: type(getattr(Settings, name))(value) for name, value in values.items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError(NO_NUMBER) from error
    values["hidden"] = tuple(filter(None, widths))
    if values["trains"] == FROZEN_EMBEDDINGS:
        values |= {"trains": "all", "frozen_embeddings": True}
    return Settings(**values).check()


def fit_model(settings: Settings, layers: int) -> Settings:
    """These settings. Raises UserError where they train more upper layers than the model has."""
    if settings.trains == "top" and settings.top_layers > layers:
        raise UserError(f"The recipe trains the upper {settings.top_layers} layers, but this model has only {layers}.")
    return settings


def shown_settings(settings: Settings) -> list[Any]:
    """The other way: what each control of RECIPE says for these settings."""
    values = {name: getattr(settings, name) for name in RECIPE}
    values["hidden"] = ",".join(map(str, settings.hidden)) or "0"
    if settings.trains == "all" and settings.frozen_embeddings:
        values["trains"] = FROZEN_EMBEDDINGS
    return list(values.values())


def read_dataset(
    kind: str,
    data: str,
    file: Any,
    test_file: Any,
    hub: str,
    columns: str,
    most: Any,
    seed: Any,
    limit: int = MAX_TRAIN,
) -> Splits:
    """The data set that the data picker points at, with at most `most` training examples, and `limit` in any case.

    `columns` are those that were chosen (`print_columns`), "" where they are to be found.

    Raises UserError where it is missing, broken or of another task.
    """
    max_train, number = max_train_of(most, limit), _whole(seed)
    if data == UPLOAD:
        if not file:
            raise UserError(AWAITED)
        return load_file(kind, file, test_file or None, number, max_train, columns)
    if data == HUB:
        if not hub or not hub.strip():
            raise UserError(UNNAMED)
        return load_hub(kind, hub.strip(), number, max_train, columns)
    return _bundled(data, kind).load(number, max_train)


def max_train_of(most: Any, limit: int = MAX_TRAIN) -> int:
    """The most training examples, within bounds. Raises UserError for no number."""
    return min(limit, max(LEAST_TRAIN, _whole(most)))


def _whole(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError(NO_NUMBER) from error


def fitting(kind: str, data: str) -> str:
    """The data picker's choice where it is for this kind of task, else the first of our own sets that is."""
    if data in (UPLOAD, HUB) or (data in SOURCES and SOURCES[data].kind == kind):
        return data
    return next((key for key, source in SOURCES.items() if source.kind == kind), UPLOAD)


def requested_dataset(data: str, seed: int, task: str = "") -> tuple[str, Splits]:
    """The endpoint's `data`: (its kind of task, the data). `task` is that kind; empty is the data's own.

    Raises UserError for what is neither a bundled set nor the text of a TSV.
    """
    if not isinstance(data, str) or not data.strip():
        raise UserError(f"The data is empty; send one of {', '.join(SOURCES)}, or the text of a TSV file.")
    if data.strip() in SOURCES:
        source = _bundled(data.strip(), task)
        return source.kind, source.load(seed, MAX_TRAIN)
    if "\t" not in data:
        known = ", ".join(SOURCES)
        raise UserError(f"The data is neither one of {known} nor a TSV file; columns must be separated by tabs.")
    if task not in ("", "sentence"):
        raise UserError(
            "The text of a TSV file must contain sentences and their classes; for other tasks, use "
            "the name of a bundled data set."
        )
    return "sentence", build_dataset("data", read_rows(data.encode("utf-8", "replace"), "data.tsv"), seed=seed)


def _bundled(data: str, kind: str) -> Any:
    source = SOURCES.get(data)
    if source is None:
        raise UserError(f"There is no data set {str(data)[:40]!r} here; choose one of {', '.join(SOURCES)}.")
    if kind and source.kind != kind:
        raise UserError(f"The data set {data!r} is for another task, {source.kind!r}.")
    return source

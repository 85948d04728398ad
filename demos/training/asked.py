"""What a learner asked for, as settings and a data set: the controls' values and the endpoint's, or a sentence."""

from __future__ import annotations

from typing import Any

from demos.errors import UserError
from demos.training.data import MAX_TRAIN, Dataset, build_dataset, load_emotion, load_upload
from demos.training.settings import Settings
from demos.training.tables import read_rows

OWN, UPLOAD = "emotion", "file"  # where the sentences come from
NO_NUMBER = "A setting is empty or not a number."


def read_settings(
    pooling: str, hidden: Any, dropout: Any, rate: Any, epochs: Any, schedule: str, warmup: Any, *more: Any
) -> Settings:
    """The controls' values as Settings. Raises UserError where one is out of bounds."""
    batch_size, weight_decay, max_length, seed = more
    try:
        return Settings(
            pooling=pooling,
            hidden=(int(hidden),) if int(hidden) else (),
            dropout=float(dropout),
            learning_rate=float(rate),
            epochs=int(epochs),
            schedule=schedule,
            warmup=float(warmup),
            batch_size=int(batch_size),
            weight_decay=float(weight_decay),
            max_length=int(max_length),
            seed=int(seed),
        ).check()
    except (TypeError, ValueError, OverflowError) as error:
        raise error if isinstance(error, UserError) else UserError(NO_NUMBER) from error


def read_dataset(source: str, file: str | None, test_file: str | None, most: Any, seed: Any) -> Dataset:
    """What the data picker points at. Raises UserError where that is missing or broken."""
    try:
        max_train, number = min(MAX_TRAIN, max(10, int(most))), int(seed)
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError(NO_NUMBER) from error
    if source == OWN:
        return load_emotion(number, max_train)
    if not file:
        raise UserError("Choose a CSV, TSV or JSONL file with a text and a label column first.")
    return load_upload(file, test_file or None, number, max_train)


def told_dataset(data: str, seed: int) -> Dataset:
    """The endpoint's `data`. Raises UserError for what is neither "emotion" nor a TSV."""
    if not isinstance(data, str) or not data.strip():
        raise UserError('The data is empty; send "emotion" or the text of a TSV file.')
    if data.strip() == OWN:
        return load_emotion(seed)
    if "\t" not in data:
        raise UserError('The data is neither "emotion" nor a TSV: its columns need tabs between them.')
    return build_dataset("data", read_rows(data.encode("utf-8", "replace"), "data.tsv"), seed=seed)

"""`python -m demos.training.ready TASK FILE …`: trains a bundled adapter again, from our own data and public files."""

import argparse
import json
import math
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.files import DATA, Json
from demos.training.data.splits import Splits
from demos.training.events import Epoch, Failed, Finished, Stopped, as_json
from demos.training.loop import train
from demos.training.ready.adapter import ADAPTER, EVERY_MATRIX, FOLDER, with_adapter, write_adapter
from demos.training.settings import Settings
from demos.training.sources import reader_of
from demos.training.tasks.task import Ended

HELD_OUT = 10  # one row in so many of each file is not trained on: the last ones, since paragraphs lie together
OWN = {
    "sentence": "sentiment.tsv",
    "pair": "paraphrase.tsv",
    "entities": "entities.conll",
    "question": "questions.json",
}
POLARITY = {"0": "negative", "1": "positive"}  # as the Sentiment Labelled Sentences write them
# The names of WNUT-17's types in our own data; its products and works of art are no names of these kinds.
TYPES = {"person": "PER", "location": "LOC", "corporation": "ORG", "group": "ORG"}
TYPES |= {name: name for name in ("PER", "LOC", "ORG")}


@dataclass(frozen=True)
class Recipe(Settings):
    """LoRA beside every matrix of the encoder, in one thread; no page waits for it, so it may take hours."""

    lora_targets: ClassVar[tuple[str, ...]] = EVERY_MATRIX
    longest: ClassVar[float] = 6 * 3_600
    trains: str = "lora"
    lora_rank: int = 16
    learning_rate: float = 5e-4
    epochs: int = 4
    evaluations: int = 1
    threads: int = 1
    max_seconds: float = longest


RECIPES = {
    "sentence": Recipe(),
    "pair": Recipe(epochs=8),
    "entities": Recipe(epochs=3, max_length=96),
    "question": Recipe(epochs=5, learning_rate=1e-3, max_length=256),
}


def dataset_of(kind: str, files: list[Path]) -> tuple[Splits, list[Splits]]:
    """(what is trained on, data whose test splits are measured): our own examples, and the files' rows beside them.

    Raises UserError for a file that can't be read.
    """
    reader = reader_of(kind)
    own = DATA / OWN[kind]
    rows = list(reader.read(own.read_bytes(), own.name).rows)
    measured = [reader.build("our own test examples", rows, 0, 20_000)]
    for file in files:
        more = [_row(row, kind) for row in reader.read(file.read_bytes(), file.name).rows]
        cut = len(more) - len(more) // HELD_OUT
        more = [replace(row, split="train" if place < cut else "test") for place, row in enumerate(more)]
        measured.append(reader.build(file.stem, [*(row for row in rows if row.split != "test"), *more], 0, 20_000))
        rows += more
    return reader.build(" and ".join([own.stem, *(file.stem for file in files)]), rows, 0, 20_000), measured


def _row(row: Any, kind: str) -> Any:
    """A public file's row with our labels."""
    if kind == "sentence":
        return replace(row, label=POLARITY.get(row.label, row.label))
    if kind == "question":
        return row

    def tag_of(tag: str) -> str:
        prefix, _, name = tag.partition("-")
        return f"{prefix}-{TYPES[name]}" if name in TYPES else "O"

    return replace(row, tags=tuple(map(tag_of, row.tags)))


def scores_of(folder: Path, datasets: list[Splits]) -> list[Json]:
    """The scores of the stored adapter in the folder, on each data set's test examples."""
    loaded = ModelStore().get(BUNDLED)
    trained = with_adapter(loaded.model, loaded.tokenizer, folder)
    ended = Ended(math.nan, math.nan, 0, 0.0, 0.0, "", [])
    return [
        {"data": data.name, "test": len(data.test)}
        | dict(trained.task.outcome(data, trained.answers(data.test), ended).metrics)
        for data in datasets
    ]


def main() -> None:
    """Train one adapter, write it with what was measured."""
    options = argparse.ArgumentParser(prog="python -m demos.training.ready", description=__doc__)
    options.add_argument("task", choices=tuple(OWN))
    options.add_argument("files", nargs="*", type=Path, help="further data, a tenth of which is held out")
    options.add_argument("--out", type=Path, default=FOLDER, help="the folder that holds the adapters")
    chosen = options.parse_args()
    settings, base = RECIPES[chosen.task], ModelStore().folder(BUNDLED)
    dataset, measured = dataset_of(chosen.task, chosen.files)
    began, folder = time.monotonic(), chosen.out / chosen.task
    with tempfile.TemporaryDirectory() as home:
        looks = []
        for event in train(dataset, base, settings, Path(home) / "run", on_cpu=True):
            if isinstance(event, Failed):
                raise SystemExit(event.message)
            if isinstance(event, Epoch):
                looks.append(as_json(event))
                print(json.dumps(looks[-1]), flush=True)
            if isinstance(event, Finished | Stopped):
                write_adapter(Path(home) / "run", base, folder, settings.lora_rank)
                log = {
                    "data": dataset.name,
                    "train": len(dataset.train),
                    "notes": dataset.notes,
                    "looks": looks,
                    "settings": asdict(settings) | {"lora_targets": settings.lora_targets},
                    "steps": event.result.steps,
                    "seconds": round(time.monotonic() - began),
                    "before_storing": event.result.metrics,
                    "measured": scores_of(folder, measured),
                    "bytes": (folder / ADAPTER).stat().st_size,
                }
                (folder / "log.json").write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")
                print(json.dumps([log["before_storing"], log["measured"], log["bytes"]]))


if __name__ == "__main__":
    main()

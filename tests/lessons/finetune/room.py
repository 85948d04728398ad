"""A trainer with a service of its own, for the tests of trainings that are left, break, or are two at once."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from demos.bert.model.models import LoadedModel
from demos.lessons.finetune.train.controller import Trainer
from demos.page.services import Services
from demos.training.form_values import UPLOAD, shown_settings
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings
from tests.lessons.finetune.whole_run import whole_run
from tests.page.tiny_store import TinyStore

CHOSEN = shown_settings(Settings(epochs=1, learning_rate=3e-3, batch_size=16, max_length=16))


class Room:
    """A trainer with a service of its own, and two readers' files."""

    def __init__(self, loaded: LoadedModel, files: Path) -> None:
        self.store = TinyStore.written(loaded, files)
        self.trainings = TrainingService()
        self.trainer = Trainer(Services(self.store, "tiny", trainings=self.trainings))
        self.file = {}
        for name, labels in (("films", ("dull", "fine")), ("pets", ("cat", "dog"))):
            path = files / f"{name}.tsv"
            path.write_text(
                "".join(f"one {labels[k % 2]} {name} number {k}\t{labels[k % 2]}\n" for k in range(40)),
                encoding="utf-8",
            )
            self.file[name] = str(path)
        self.kept = self.finish("films")

    def start(self, name: str, reader: str = "") -> Iterator[dict[str, Any]]:
        picked = ("sentence", UPLOAD, self.file[name], None, "", "", 1_500)
        return whole_run(self.trainer, picked, CHOSEN, ("a fine cat", "", ""), reader=reader)

    def finish(self, name: str) -> str:
        *_, last = self.start(name)
        return str(last["kept"])

    @property
    def left(self) -> list[str]:
        """What is in the folder of the runs."""
        return sorted(path.name for path in self.trainings.runs._home.path.iterdir())

    def is_as_before(self) -> None:
        """Nobody is in line, no file but the kept run's is there, no thread trains, and the kept run answers."""
        assert len(self.trainings.queue) == 0
        assert self.left == [self.kept]
        assert not [thread for thread in threading.enumerate() if thread.name == "training"]
        assert "fine" in self.trainer.answer(self.kept, "sentence", "a fine film", "", "")

"""A store of one tiny model, so that a whole training through the page's handlers takes a second; for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from demos.bert.model.models import LoadedModel, ModelStore


class TinyStore(ModelStore):
    """Knows one key alone, mostly "tiny"; `files` is the folder that a training reads the model from."""

    def __init__(self, loaded: LoadedModel, files: Path) -> None:
        super().__init__({loaded.spec.key: loaded.spec})
        self.loaded, self.files = loaded, files

    @classmethod
    def written(cls, loaded: LoadedModel, files: Path) -> TinyStore:
        """The model written to `files` first."""
        loaded.model.save_pretrained(files)
        loaded.tokenizer.save_pretrained(files)
        return cls(loaded, files)

    def get(self, key: str) -> LoadedModel:
        self.spec(key)
        return self.loaded

    def tokenizer(self, key: str) -> Any:
        return self.loaded.tokenizer if key == self.loaded.spec.key else super().tokenizer(key)

    def folder(self, key: str) -> Path:
        self.spec(key)
        return self.files

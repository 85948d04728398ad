"""A few models of the Hub, each pinned and of a fixed class, read only where the files are of the kind named."""

import json
from collections.abc import Callable
from pathlib import Path

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.weights import float32_bytes
from demos.errors import UserError


class PinnedStore(ModelStore):
    """`ModelStore` for a few models of the Hub, each of a fixed class; a subclass says how its files are opened."""

    def _opened(self, key: str, folder: Path) -> LoadedModel:
        """The model in these files, which are all there and of the right kind."""
        raise NotImplementedError

    def _read(self, key: str, take: Callable[[float], None]) -> LoadedModel:
        spec = self.catalogue[key]
        try:
            folder = self._files(spec)  # first: it fetches the missing files, and yields its progress
            _check_config(spec, folder)
            take(float32_bytes(folder))
            return self._opened(key, folder)
        finally:
            self._progress.pop(key, None)


def _check_config(spec: ModelSpec, folder: Path) -> None:
    """Raises UserError, one sentence, where the folder's model is of another kind than the catalogue says."""
    try:
        model_type = json.loads((folder / "config.json").read_text(encoding="utf-8"))["model_type"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{spec.title} can't be opened: its config.json can't be read.") from error
    if model_type != spec.architecture:
        raise UserError(f"{spec.title} can't be opened: its config.json says {str(model_type)[:40]!r}.")

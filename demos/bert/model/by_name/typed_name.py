"""The name of a model as a reader types it, and the entry of one that was found."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import constants
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.fetching import TOKENIZER_FILES
from demos.bert.model.weights import INDEX
from demos.errors import UserError

HUB = "https://huggingface.co/"
LONGEST = 200  # characters of what is read at all
SHOWN = 60  # characters of it that a sentence repeats
NAME = re.compile(r"([\w.-]+/[\w.-]+)(?:@([0-9a-f]{40}))?", re.ASCII)


@dataclass(frozen=True)
class NamedSpec(ModelSpec):
    """A model that was found by its name: its key is owner/name@commit, so that a link opens the same weights."""

    shards: tuple[str, ...] = ()  # its weights' files, where they are several
    sizes: tuple[int, ...] = ()  # bytes of each of its weights' files, as the Hub says

    @property
    def weights(self) -> tuple[str, ...]:
        return self.shards or super().weights

    @property
    def files(self) -> tuple[str, ...]:
        return (*TOKENIZER_FILES, INDEX, *self.shards) if self.shards else super().files

    @property
    def most_bytes(self) -> Mapping[str, int]:
        return dict(zip(self.weights, self.sizes, strict=False))

    @property
    def cache(self) -> Path:
        """The folder of this model's files alone, in the Hub's cache."""
        return cache_of(self.hub_id, self.revision)

    @property
    def summary(self) -> str:
        return f"{super().summary} From the Hugging Face Hub at revision {self.revision}; not tested by this project."


def all_caches() -> Path:
    """The folder with a folder for each of these models."""
    return Path(constants.HF_HUB_CACHE) / "inside-bert-by-name"


def cache_of(hub_id: str, revision: str) -> Path:
    """The folder of one model at one revision. Neither may hold a slash but the one of owner/name."""
    return all_caches() / f"{hub_id.replace('/', '--')}--{revision}"


def is_pinned(key: str) -> bool:
    """Whether this is the key of a model by name, and none of the catalogue's."""
    match = NAME.fullmatch(key)
    return match is not None and match[2] is not None


def read_name(requested: object) -> tuple[str, str]:
    """(owner/name, revision or "") of a typed text or of a link; the address of the model's page on the Hub will do.

    Raises UserError for what can't be the name of a model.
    """
    typed = requested.strip() if isinstance(requested, str) else ""
    reference = typed.removeprefix(HUB).strip("/") if len(typed) <= LONGEST else ""
    match = NAME.fullmatch(reference)
    try:
        if match:
            validate_repo_id(match[1])
            return match[1], match[2] or ""
    except HFValidationError:
        pass
    shown = f"{typed[:SHOWN]}…" if len(typed) > SHOWN else typed
    raise UserError(
        f"{shown!r} is not the name of a model; type it as owner/name, as on the Hugging Face Hub, for example "
        "google/bert_uncased_L-4_H-256_A-4."
    )

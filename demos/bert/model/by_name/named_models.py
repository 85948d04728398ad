"""Models by name: found on the Hub at a revision, checked, remembered; their files in a bounded part of the disk."""

import json
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
    SafetensorsParsingError,
)
from huggingface_hub.hf_api import ModelInfo
from huggingface_hub.utils import SafetensorsFileMetadata

from demos.bert.model.by_name import model_checks
from demos.bert.model.by_name.typed_name import NamedSpec, all_caches, cache_of, read_name
from demos.bert.model.fetching import ANSWER_SECONDS, Fetch, fetch_model
from demos.bert.model.once_cache import Recent
from demos.errors import UserError

MOST_KNOWN = 256  # entries in memory, of some hundred bytes
MOST_ON_DISK = 5  # models; each has at most model_checks.MOST_FILE bytes of weights
AT_ONCE = 2  # models that are looked up or fetched
PATIENCE = 20.0  # seconds that others wait for their turn
ENTRY = "entry.json"  # in a model's folder: what was found


class NamedModels:
    """The models found so far; safe for many threads. Nothing here is a reader's: who has the key may use the model."""

    def __init__(self, limits: model_checks.Limits, read_tokenizer: Callable[[Path], Any]) -> None:
        self._limits, self._read_tokenizer = limits, read_tokenizer
        self._known: Recent[NamedSpec] = Recent(MOST_KNOWN)
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    def known(self, key: str) -> NamedSpec | None:
        """The entry of a key that was found here, or that the disk still has; no request to the Hub."""
        if (spec := self._known.get(key)) is not None:
            return spec
        try:
            name, revision = read_name(key)
            entry = json.loads((cache_of(name, revision) / ENTRY).read_text(encoding="utf-8"))
            spec = NamedSpec(**entry | {field: tuple(entry.get(field, ())) for field in ("shards", "sizes")})
        except (UserError, OSError, ValueError, TypeError, AttributeError):
            return None
        if spec.key != key:
            return None
        self._known.put(key, spec)
        return spec

    def find(self, requested: str) -> NamedSpec:
        """The model of this name, at the requested revision or, without one, at its newest.

        Queries the Hub, for some seconds, unless that revision is known. Raises UserError, one sentence, for what is no
        public BERT with safetensors that fits in here, and where the Hub can't be reached. No weights are fetched.
        """
        name, revision = read_name(requested)
        with self.turn():
            if revision and (known := self.known(f"{name}@{revision}")):
                return known
            try:
                info = HfApi(token=False).model_info(
                    name, revision=revision or None, timeout=ANSWER_SECONDS, files_metadata=True, token=False
                )
            except GatedRepoError as error:
                raise model_checks.refused(name, "access to it must be requested on the Hub") from error
            except RevisionNotFoundError as error:
                raise model_checks.refused(name, f"it has no revision {revision}") from error
            except (RepositoryNotFoundError, DisabledRepoError) as error:
                raise UserError(f"The Hugging Face Hub has no public model {name}.") from error
            except Exception as error:  # the Hub client raises many kinds; each means the same to the learner
                if not revision and (newest := self._newest(name)):
                    return newest
                raise UserError(
                    f"The Hugging Face Hub could not be reached to look for {name}; try again later."
                ) from error
            return self.known(f"{info.id}@{info.sha}") or self._checked(info)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A lock for look-ups and fetches. Raises UserError where others have held it for too long."""
        if not self._turns.acquire(timeout=PATIENCE):
            raise UserError("Other models are being looked up or fetched; try again in a minute.")
        try:
            yield
        finally:
            self._turns.release()

    def _checked(self, info: ModelInfo) -> NamedSpec:
        name, revision = read_name(f"{info.id}@{info.sha}")
        if info.gated or info.private:
            raise model_checks.refused(name, "access to it must be requested on the Hub")
        cache = cache_of(name, revision)
        try:
            spec = self._read(name, revision, {file.rfilename: file.size for file in info.siblings or ()}, cache)
        except BaseException:
            shutil.rmtree(cache, ignore_errors=True)
            raise
        self._known.put(spec.key, spec)
        self.keep(spec)
        return spec

    def _read(self, name: str, revision: str, sizes: Mapping[str, int | None], cache: Path) -> NamedSpec:
        files = model_checks.check_files(name, sizes)
        most = {file: sizes[file] or 0 for file in files if file in sizes}
        folder = fetch_model(name, Fetch(name, revision, files, lambda count: None, cache, most))
        header = partial(_header, name, revision)
        checked = model_checks.check_model(name, folder, sizes, header, self._limits, self._read_tokenizer)
        if checked.spec.tokenizer_file not in sizes:
            needed = f"it has no {checked.spec.tokenizer_file}, which a model of its architecture needs here"
            raise model_checks.refused(name, needed)
        found_at = {"key": f"{name}@{revision}", "revision": revision}
        shards = checked.weights if checked.in_several else ()
        return NamedSpec(**vars(checked.spec) | found_at, shards=shards, sizes=checked.nbytes)

    def _newest(self, name: str) -> NamedSpec | None:
        """The one of that name that came last, for a server without a network; None where there is none."""
        folders = [folder for folder in _folders() if folder.name.startswith(f"{name.replace('/', '--')}--")]
        keys = (f"{name}@{folder.name[-40:]}" for folder in reversed(folders))
        return next((spec for key in keys if (spec := self.known(key))), None)

    def keep(self, spec: NamedSpec) -> None:
        """Note that this model's files are used now, and delete those of the models that were used longest ago."""
        spec.cache.mkdir(parents=True, exist_ok=True)
        (spec.cache / ENTRY).write_text(json.dumps(asdict(spec)), encoding="utf-8")
        spec.cache.touch()
        others = [folder for folder in _folders() if folder != spec.cache]
        for folder in others[: max(0, len(others) + 1 - MOST_ON_DISK)]:
            shutil.rmtree(folder, ignore_errors=True)


def _header(name: str, revision: str, file: str) -> SafetensorsFileMetadata:
    """The tensors of a safetensors file on the Hub, from its header; only its beginning is read."""
    try:
        return HfApi(token=False).parse_safetensors_file_metadata(
            name, file, revision=revision, token=False, timeout=ANSWER_SECONDS
        )
    except SafetensorsParsingError as error:
        raise model_checks.refused(name, f"its {file} is no safetensors file") from error
    except Exception as error:
        raise UserError(
            f"The Hugging Face Hub stopped answering while {name} was being checked; try again later."
        ) from error


def _folders() -> list[Path]:
    """The models' folders, that of the one used longest ago first."""
    folders = [folder for folder in all_caches().glob("*--*--*") if folder.is_dir()]
    return sorted(folders, key=lambda folder: folder.stat().st_mtime_ns)

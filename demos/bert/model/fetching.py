"""A model's files from the Hub, in a thread that can be given up; and what is wrong with weights that came broken."""

import hashlib
import io
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from huggingface_hub import constants, hf_hub_download
from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError
from huggingface_hub.utils import get_session
from tqdm.auto import tqdm

from demos.errors import UserError

WEIGHTS = "model.safetensors"
TOKENIZER_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
PROBE_SECONDS = 5.0  # for the Hub to answer at all
ANSWER_SECONDS = 10.0  # for a file's header
STALL_SECONDS = 10.0  # without a byte, and a fetch is given up; the app can't end much sooner
LOOK_SECONDS = 0.2
MAX_HEADER = 100 * 2**20  # bytes, as safetensors itself has it
PICKLE, ZIP = b"\x80", b"PK\x03\x04"  # how PyTorch's own files begin


class StoppedError(Exception):
    """Nobody waits for this fetch any more."""


class TooLargeError(Exception):
    """A file that is larger than it may be."""


class DaemonThreads:
    """A replacement of `ThreadPoolExecutor.submit` with threads that a program which ends does not wait for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """The future of `function(*arguments)`."""
        future: Future[Any] = Future()

        def work() -> None:
            try:
                future.set_result(function(*arguments))
            except BaseException as error:  # raised where the result is read
                future.set_exception(error)

        threading.Thread(target=work, name=self._name, daemon=True).start()
        return future


class Fetch:
    """Files of one repository at a revision on their way into the Hub's cache.

    Or into a separate `cache`: then without the server's token, so that they are files that anybody may read.
    `most` says how many bytes single files may have; the fetch ends with TooLargeError where one has more.
    """

    def __init__(
        self,
        repo: str,
        revision: str,
        names: Sequence[str],
        progress: Callable[[int], None],
        cache: Path | None = None,
        most: Mapping[str, int] | None = None,
    ) -> None:
        self.folder: Path | None = None
        self._cache = cache
        self._repo, self._revision, self._names, self._progress = repo, revision, names, progress
        self._most, self._name = most or {}, ""  # the file that is on its way
        self._counts: dict[int, int] = {}  # bytes by progress bar
        self._moved = time.monotonic()  # when something came
        self._given_up = False

    def wait(self) -> Path:
        """The folder with the files; raises what went wrong, TimeoutError after STALL_SECONDS without a byte."""
        done = DaemonThreads(f"fetch {self._repo}").submit(self._run)
        while not done.done():
            time.sleep(LOOK_SECONDS)
            if time.monotonic() - self._moved > STALL_SECONDS or not threading.main_thread().is_alive():
                self._given_up = True
                raise TimeoutError(f"the Hub sent nothing for {STALL_SECONDS:.0f} seconds")
        return done.result()

    def _run(self) -> Path:
        get_session().head(constants.ENDPOINT, timeout=PROBE_SECONDS)  # else the client retries for 25 s
        folder = None
        for name in self._names:
            self._name = name
            try:
                path = hf_hub_download(
                    self._repo,
                    name,
                    revision=self._revision,
                    cache_dir=self._cache,
                    etag_timeout=ANSWER_SECONDS,
                    token=False if self._cache else None,
                    tqdm_class=self._bar(),
                )
                folder = Path(path).parent
            except EntryNotFoundError as error:  # not every model has every file
                if isinstance(error, LocalEntryNotFoundError):  # so the client says that the Hub failed
                    raise
            self._note(0, 0)
        if folder is None:
            raise FileNotFoundError(f"{self._repo} has none of {', '.join(self._names)}")
        return folder

    def _note(self, bar: int, count: int) -> None:
        if self._given_up:
            raise StoppedError
        self._check(count)
        self._moved = time.monotonic()
        self._counts[bar] = max(count, self._counts.get(bar, 0))
        self._progress(sum(self._counts.values()))

    def _check(self, count: int) -> None:
        if count > self._most.get(self._name, count):
            raise TooLargeError(f"{self._name} has more than {self._most[self._name]} bytes")

    def _bar(self) -> type[tqdm]:
        """A progress bar that draws nothing and reports how many bytes have arrived."""
        fetch, number = self, len(self._counts) + 1

        class Reporter(tqdm):
            def __init__(self, *args: Any, **options: Any) -> None:
                options.pop("name", None)
                super().__init__(*args, **(options | {"disable": False, "file": io.StringIO()}))

            def update(self, n: float | None = 1) -> bool | None:
                changed: bool | None = super().update(n)
                fetch._note(number, int(self.n))
                return changed

        return Reporter


def what_is_broken(weights: Path, whole: bool = False) -> str:
    """The fault of a safetensors file, as the end of a sentence; "" if there is none.

    With `whole` also its bytes are compared with their SHA-256, which the Hub's cache has for a name.
    """
    size = weights.stat().st_size
    with weights.open("rb") as file:
        begin = file.read(8)
        length = int.from_bytes(begin, "little")
        pickled = begin.startswith(ZIP) or (begin.startswith(PICKLE) and length > MAX_HEADER)
        wrong = f"are {'a pickle, which can hold a program, and ' if pickled else ''}no safetensors file"
        if len(begin) < 8 or length > MAX_HEADER:
            return wrong
        if length > size - 8:
            return wrong if pickled else "are cut short"
        try:
            tensors = [tensor for name, tensor in json.loads(file.read(length)).items() if name != "__metadata__"]
            wanted = 8 + length + max((tensor["data_offsets"][1] for tensor in tensors), default=0)
        except (ValueError, AttributeError, KeyError, IndexError, TypeError, RecursionError):
            return wrong
        if size < wanted:
            return "are cut short"
        name = weights.resolve().name
        if whole and len(name) == 64:
            file.seek(0)
            if hashlib.file_digest(file, "sha256").hexdigest() != name:
                return "are not the ones that the Hub announced"
    return ""


def throw_away(file: Path) -> None:
    """Remove a file of the Hub's cache, and what it is a link to, so that it is fetched again."""
    file.resolve().unlink(missing_ok=True)
    file.unlink(missing_ok=True)


def fetch_model(title: str, fetch: Fetch, weights: Sequence[str] = ()) -> Path:
    """The folder that `fetch` fills. Raises UserError, one sentence, where files can't come or `weights` are broken."""
    try:
        folder = fetch.wait()
    except TimeoutError as error:
        raise UserError(
            f"{title} could not be downloaded, because the Hugging Face Hub is not responding; to try again, choose "
            f"{title} again."
        ) from error
    except TooLargeError as error:
        raise UserError(f"{title} can't be opened here: a file of it is larger than the Hub says.") from error
    except Exception as error:  # the Hub client raises many kinds; each means the same to the learner
        raise UserError(f"{title} could not be downloaded from the Hugging Face Hub just now.") from error
    for file in [folder / name for name in weights if (folder / name).is_file()]:
        broken = what_is_broken(file, whole=True)
        if broken:
            throw_away(file)
            raise UserError(f"The weights of {title} {broken}, so they were deleted; choose it again to download them.")
    return folder

"""Shared by all tests: no hub in reach, a tiny random BERT for units, the bundled model, and the real app.

torch and transformers are imported by the fixtures that need them: pytest reads this file once more in the process
that only hands the tests out, and five seconds of importing there would hold every test up.
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import psutil
import pytest
from filelock import FileLock

from demos.bert.model.catalogue import BUNDLED, ModelSpec

if TYPE_CHECKING:
    from gradio import Blocks

    from demos.bert.model.models import LoadedModel, ModelStore
    from demos.page.delivery.first_views import FirstViews

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 300  # where nothing comes at all; 90 were too few for a machine at a load of ten
LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run every test, those marked as slow too")


def pytest_configure(config: pytest.Config) -> None:
    """A file or a test that is named runs whole. The processes that test take over this process's options."""
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        config.option.all = True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Processes beside one another: with `--all` three, which keep two cores busy while one waits for its page."""
    return 3 if config.option.all else 2


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.option.all:
        leave_out_slow_tests(config, items)
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes > 1:
        long_tests_first(items, processes)


def in_browser(item: pytest.Item) -> bool:
    return item.path.parent.name == "browser"


def is_slow(item: pytest.Item) -> bool:
    """Whether it is marked as slow, or is one of the browser that is not marked as quick."""
    return item.get_closest_marker("quick") is None if in_browser(item) else item.get_closest_marker("slow") is not None


def leave_out_slow_tests(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = [item for item in items if is_slow(item)]
    items[:] = [item for item in items if not is_slow(item)]
    config.hook.pytest_deselected(items=slow)
    config.stash[LEFT_OUT] = len(slow)
    if hasattr(config, "workeroutput"):  # of a process of pytest-xdist, which the first process reads at its end
        config.workeroutput["left_out"] = len(slow)


def long_tests_first(items: list[pytest.Item], processes: int) -> None:
    """To each process as many of the longest tests, then as many files of long tests, then the short ones.

    So only short ones are left at the end. The longest (marked as `minutes`) are shared out one by one. Any other file
    stays whole: what its tests share, such as an app of the file's, is made in one process. pytest-xdist
    (`--dist worksteal`) begins by cutting the list into a block for each process, and lets one that is idle take over
    what another has left, from the end of its block, but for its last two: seconds of short tests, minutes of long.
    """
    longest = [item for item in items if item.get_closest_marker("minutes")]
    apart = set(longest)
    long = [item for item in items if item not in apart and (in_browser(item) or is_slow(item))]
    apart |= set(long)
    short = [item for item in items if item not in apart]
    files = [list(tests) for _, tests in groupby(long, key=lambda item: item.path)]
    ordered: list[pytest.Item] = []
    for number in range(processes):
        block = longest[number::processes] + [item for file in files[number::processes] for item in file]
        size = (len(items) - len(ordered)) // (processes - number)
        taken = max(0, size - len(block))
        ordered += [*block, *short[:taken]]
        del short[:taken]
    items[:] = [*ordered, *short]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """After pytest's own last line: what was left out, and how to run it."""
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and (left_out := session.config.stash.get(LEFT_OUT, 0)):
        reporter.write_line(
            f"Left out: {left_out} slow tests (every part of every lesson on every screen, notebooks, long trainings,"
            " the benchmarks in short form, types); `python -m pytest --all` runs them too."
        )


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """One thread a test process, in its trainings too; and no search for what is unreachable after each tiny training.

    Two threads that wait for each other are slow on a busy machine. Among all that tests hold that search costs more
    than the training; `give_back` itself is tested in
    tests/bert/model/test_freed_memory.py.
    """
    import torch

    from demos.training.service import training_thread as thread

    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thread, "give_back", lambda: None)
        patch.setenv("OMP_NUM_THREADS", "1")  # what `cores` goes by
        yield


@pytest.fixture(scope="session", autouse=True)
def float32() -> Iterator[None]:
    """Trainings here multiply in float32, whatever this machine is quick at."""
    from demos.training.learning import hardware

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hardware, "in_bfloat16", lambda on_cpu=False: False)
        yield


@pytest.fixture(scope="session", autouse=True)
def readings_take_turns() -> Iterator[None]:
    """What a test reads by itself waits for what the app reads in a thread; see demos/bert/model/weights.py."""
    from transformers import PreTrainedModel

    from demos.bert.model.weights import ALONE

    original = PreTrainedModel.from_pretrained.__func__  # type: ignore[attr-defined]

    def in_turn(kind: type, *args: Any, **options: Any) -> Any:
        with ALONE:
            return original(kind, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PreTrainedModel, "from_pretrained", classmethod(in_turn))
        yield


@pytest.fixture(scope="session")
def store() -> ModelStore:
    """The catalogue's store; with no hub in reach only the bundled model loads."""
    from demos.bert.model.models import ModelStore

    return ModelStore()


@pytest.fixture(scope="session")
def bundled(store: ModelStore) -> LoadedModel:
    """The bundled MiniLM, shared by every integration test; never trained."""
    return store.get(BUNDLED)


@pytest.fixture(scope="session")
def tiny(store: ModelStore) -> LoadedModel:
    """A random BERT of 2 layers, 4 heads and width 32 over the bundled vocabulary: quick, and nobody's numbers."""
    import torch
    from transformers import BertConfig, BertModel

    from demos.bert.model.models import LoadedModel

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
    )
    model = BertModel(config)
    model.set_attn_implementation("eager")
    spec = ModelSpec("tiny", "Tiny random BERT", "", "", 2, 4, 32, cased=False)
    return LoadedModel(spec, store.tokenizer(BUNDLED), model.eval().requires_grad_(False))


@pytest.fixture(scope="session")
def built(store: ModelStore, bundled: LoadedModel) -> tuple[Blocks, FirstViews]:
    """The page of every lesson, built once for the tests that ask all of them, and their first views; not served."""
    from app import build_pages
    from demos.page.delivery.first_views import FirstViews
    from demos.page.services import Services

    views = FirstViews()
    return build_pages(Services(store, BUNDLED), views), views


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`python app.py` with no hub in reach, as its users start it; yields its address.

    One app serves all test processes: the first that asks starts it, the last that leaves ends it.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # all processes of this run, and no other run's
    at, users, lock = folder / "app.txt", folder / "app-users", FileLock(folder / "app.lock")
    with lock:
        if not at.exists():
            at.write_text(" ".join(map(str, start_app(folder))), encoding="utf-8")
        users.mkdir(exist_ok=True)
        (users / str(os.getpid())).touch()
    pid, port = map(int, at.read_text(encoding="utf-8").split())
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_SECONDS
        while "is ready" not in (folder / "app.log").read_text(encoding="utf-8") or not answers(url):
            if time.monotonic() > deadline or not runs(pid):
                pytest.fail(f"the app did not start:\n{(folder / 'app.log').read_text(encoding='utf-8')[-4000:]}")
            time.sleep(0.2)
        yield url
    finally:
        with lock:
            (users / str(os.getpid())).unlink()
            if not any(runs(int(user.name)) for user in users.iterdir()):
                end_app(pid, url)
                at.unlink()  # who asks later starts another


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_app(folder: Path, port: int = 0, **environment: str) -> tuple[int, int]:
    """(process, port) of an app that is about to answer; the port is a free one, or that of one that has ended.

    `environment` is on top of the tests' own.
    """
    port = port or free_port()
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hub"), "OMP_NUM_THREADS": "1"}
    env |= {"INSIDE_BERT_RUNS": str(folder / "runs"), **environment}
    with (folder / "app.log").open("w", encoding="utf-8") as output:
        app = subprocess.Popen(
            [sys.executable, "app.py", "--port", str(port)], cwd=ROOT, env=env, stdout=output, stderr=subprocess.STDOUT
        )
    return app.pid, port


@contextmanager
def own_app(folder: Path, **environment: str) -> Iterator[str]:
    """The address of an app that is ready and is no other test's; it ends with the block."""
    pid, port = start_app(folder, **environment)
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
    try:
        while "is ready" not in (log := (folder / "app.log").read_text(encoding="utf-8")) or not answers(url):
            assert runs(pid), log
            assert time.monotonic() < deadline, log
            time.sleep(0.2)
        yield url
    finally:
        end_app(pid, url)


def end_app(pid: int, url: str) -> None:
    """Ask it to leave, by SIGTERM where the system has that; insist after ten seconds."""
    if runs(pid):
        psutil.Process(pid).terminate()
    deadline = time.monotonic() + 10
    while answers(url):
        if time.monotonic() > deadline:
            with suppress(psutil.NoSuchProcess):
                psutil.Process(pid).kill()
            break
        time.sleep(0.1)


def answers(url: str) -> bool:
    try:
        urllib.request.urlopen(f"{url}/config", timeout=2).read()
    except (OSError, http.client.HTTPException):  # the latter where it ends in the middle of its answer
        return False
    return True


def runs(pid: int) -> bool:
    """Whether the process is there; one of ours that has ended is let go."""
    try:
        psutil.Process(pid).wait(0)
    except psutil.TimeoutExpired:
        return True
    except psutil.NoSuchProcess:
        return False
    return False

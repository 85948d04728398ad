"""Shared by all tests: no hub in reach, a tiny random BERT for units, the bundled model, and the real app.

torch and transformers are imported by the fixtures that need them: pytest reads this file once more in the process
that only hands the tests out, and five seconds of importing there would hold every test up.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import pytest

from demos.bert.catalogue import BUNDLED, ModelSpec

if TYPE_CHECKING:
    from demos.bert.models import LoadedModel, ModelStore

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 90


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """One thread a test process; and no search for what is unreachable after each tiny training.

    Among all that tests hold that search costs more than the training; `give_back` itself is tested in
    tests/bert/test_memory.py.
    """
    import torch

    from demos.training import thread

    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thread, "give_back", lambda: None)
        yield


@pytest.fixture(scope="session")
def store() -> ModelStore:
    """The catalogue's store; with no hub in reach only the bundled model loads."""
    from demos.bert.models import ModelStore

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

    from demos.bert.models import LoadedModel

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
    )
    model = BertModel(config)
    model.set_attn_implementation("eager")
    spec = ModelSpec("tiny", "Tiny random BERT", "", "", 2, 4, 32, cased=False)
    return LoadedModel(spec, store.tokenizer(BUNDLED), model.eval().requires_grad_(False))


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`python app.py` with no hub in reach, as its users start it; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("app") / "app.log"
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(log.parent / "hub"), "OMP_NUM_THREADS": "1"}
    with log.open("w") as output:
        app = subprocess.Popen(
            [sys.executable, "app.py", "--port", str(port)],
            cwd=ROOT,
            env=env,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"{url}/config", timeout=2).read()
                break
            except OSError:
                if app.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"the app did not start:\n{log.read_text()[-4000:]}")
                time.sleep(0.2)
        yield url
    finally:
        app.terminate()
        try:
            app.wait(timeout=10)
        except subprocess.TimeoutExpired:
            app.kill()

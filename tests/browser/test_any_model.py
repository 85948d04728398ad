"""A BERT opened by its name in the picker: in use at its revision, in the link, and refused in one sentence."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from demos.bert.model.catalogue import CATALOGUE, PREFERRED
from tests.bert.model.many_models import NEWEST, ManyModels, Repository, write_bert
from tests.bert.model.other_encoders import write_encoder
from tests.conftest import START_SECONDS, answers, end_app, start_app

NAME = "someone/bert-small"
LARGER = CATALOGUE[PREFERRED]
KEY = f"{NAME}@{NEWEST}"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    repositories = {
        NAME: Repository(write_bert(tmp_path_factory.mktemp("bert"))),
        LARGER.hub_id: Repository(write_bert(tmp_path_factory.mktemp("larger"))),
        "someone/albert": Repository(write_encoder("albert", tmp_path_factory.mktemp("others") / "albert")),
    }
    handler = type("Hub", (ManyModels,), {"repositories": repositories, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def app_url(hub: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app of its own, started with --any-model, that asks this hub."""
    folder = tmp_path_factory.mktemp("app")
    pid, port = start_app(folder, HF_HUB_OFFLINE="0", HF_ENDPOINT=hub, INSIDE_BERT_ANY_MODEL="1")
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
    while "is ready" not in (folder / "app.log").read_text(encoding="utf-8") or not answers(url):
        assert time.monotonic() < deadline, (folder / "app.log").read_text(encoding="utf-8")[-2000:]
        time.sleep(0.2)
    yield url
    end_app(pid, url)


def test_a_name_is_typed_and_the_link_opens_the_same_weights(
    page: Page, open_lesson: Callable[..., Page], app_url: str
) -> None:
    open_lesson("tokens", text="A river bank.")
    picker, told = page.locator("#bar-model input"), page.locator("#bar-status")
    for typed in ("../x", "<script>alert(1)</script>", "nobody/nothing"):
        picker.fill(typed)
        picker.press("Enter")
        expect(told).to_contain_text("no public model" if typed == "nobody/nothing" else "is not the name of a model")
        expect(picker).to_have_value("MiniLM (bundled)")
    picker.fill(NAME)
    picker.press("Enter")
    page.wait_for_url(f"**model={quote(KEY, safe='')}**")
    expect(picker).to_have_value(KEY)
    expect(told).to_contain_text(
        f"2 layers × 4 heads, width 32, uncased. From the Hugging Face Hub at revision {NEWEST}"
    )
    other = page.context.new_page()
    other.goto(f"{app_url}/attention?text=A+river+bank.&model={quote(KEY, safe='')}")
    expect(other.locator("#bar-model input")).to_have_value(KEY)
    expect(other.locator("#bar-status")).to_contain_text("2 layers × 4 heads")
    expect(other.locator("#lesson-attention")).to_contain_text("river")
    albert = quote(f"someone/albert@{NEWEST}", safe="")
    other.goto(f"{app_url}/attention?text=A+river+bank.&model={albert}")
    expect(other.locator("#bar-status")).to_contain_text(
        "It is an ALBERT model. It can be used in Tokens, Attention, most parts of Embeddings"
    )
    expect(other.locator("#lesson-attention")).to_contain_text("Layer 3, head 1")
    other.goto(f"{app_url}/?text=A+river+bank.&model={albert}")
    expect(other.locator(".notice").first).to_contain_text(
        "can't be used in this part, which works only with BERT and DistilBERT models."
    )
    picker.click()
    page.get_by_role("option", name="MiniLM (bundled)").click()
    page.wait_for_url("**model=minilm**")


def test_bert_base_is_offered_where_a_small_model_answers(page: Page, open_lesson: Callable[..., Page]) -> None:
    """The button is there because this hub answers; a press fetches the model and shows the same view with it."""
    open_lesson("pretraining", part="fill_mask", text="She opened the [MASK].")
    said, picker = page.locator("#fill-said"), page.locator("#bar-model input")
    expect(said).to_contain_text("This is a small model, trained on 126 million tokens.")
    button = said.get_by_role("button", name=f"BERT base ({LARGER.size_mb} MB, once)")
    expect(button).to_be_visible()
    button.click()
    expect(picker).to_have_value(LARGER.title)
    page.wait_for_url(f"**model={PREFERRED}**")
    assert "She+opened+the" in page.url
    expect(said).to_contain_text("best guess")
    expect(said.locator(".small-model")).to_have_count(0)
    page.goto(page.url.replace(PREFERRED, "minilm"))  # the files are here now
    expect(said.get_by_role("button", name="BERT base", exact=True)).to_be_visible()

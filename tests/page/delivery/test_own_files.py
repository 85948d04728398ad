"""The page's own script and style sheet: one file each, compressed, kept for ever, named by its content."""

import re
from urllib.request import urlopen

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from demos.page.delivery.fixed_answers import FixedAnswers
from demos.page.delivery.own_files import AT, own_files, own_tags
from demos.page.delivery.page_cache import PageCache

FILES = own_files("let a = 1;", ":root { color: red; }")


@pytest.fixture
def client() -> TestClient:
    middleware = [Middleware(PageCache), Middleware(FixedAnswers, answers=FILES, folders=(AT,))]
    return TestClient(Starlette(middleware=middleware))


def test_what_the_page_names_is_there_for_ever(client: TestClient) -> None:
    named = re.findall(r'(?:src|href)="(page/[^"]+)"', own_tags(FILES))
    assert [f"/{address}" for address in named] == [*reversed(FILES)]
    for address, text, kind in zip(named, (":root { color: red; }", "let a = 1;"), ("css", "javascript"), strict=True):
        for accepted in ("br", "gzip", "identity"):
            sent = client.get(f"/{address}", headers={"accept-encoding": accepted})
            assert (sent.status_code, sent.text) == (200, text)
            assert sent.headers.get("content-encoding", "identity") == accepted
            assert sent.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert kind in sent.headers["content-type"]


def test_another_text_has_another_name() -> None:
    assert not FILES.keys() & own_files("let a = 2;", ":root { color: blue; }").keys()
    assert FILES.keys() == own_files("let a = 1;", ":root { color: red; }").keys()


@pytest.mark.parametrize("path", ["/page/inside-bert.js", "/page/", "/page/../app.py", "/page/%2e%2e/app.py"])
def test_nothing_else_is_in_that_folder(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_the_page_has_them_before_gradios_own_script_runs(app_url: str) -> None:
    with urlopen(f"{app_url}/encoder", timeout=60) as answer:
        page = answer.read().decode()
    head = page.partition("</head>")[0]
    (sheet,) = re.findall(r'<link rel="stylesheet" href="(page/inside-bert-\w+\.css)">', head)
    (script,) = re.findall(r'<script src="(page/inside-bert-\w+\.js)">', head)
    assert head.index("window.gradio_config") < head.index(sheet) < head.index(script)
    for address, part in ((sheet, b":root:root:root{"), (script, b"insideBert.ticks =")):
        with urlopen(f"{app_url}/{address}", timeout=60) as answer:
            assert part in answer.read()
    assert "insideBert.ticks =" not in page  # not a second time in what Gradio hands on

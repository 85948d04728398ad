"""The page is built once for all hosts, compressed, and the same page as without the cache."""

import asyncio
import gzip
import json
import re
import urllib.request
from pathlib import Path

import brotli
import httpx
import pytest
from gradio.brotli_middleware import BrotliMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient
from starlette.types import Scope

from demos.page.delivery.page_cache import EARLY, EDITIONS, PageCache
from demos.page.patches.mend import SCRIPTS, mended_scripts
from demos.page.patches.patches import MENDS
from tests.run_coroutine import run

ROOT = Path(__file__).resolve().parents[3]


class Pages:
    """An app that counts what it builds, and fails while `broken`."""

    def __init__(self) -> None:
        self.built: list[str] = []
        self.status = 200
        self.error = False
        self.edition = 0

    async def page(self, request: Request) -> Response:
        self.built.append(str(request.url))
        await asyncio.sleep(0.05)
        if self.error:
            raise RuntimeError("no page today")
        if request.url.path == "/config":
            return PlainTextResponse(f'{{"file": "{request.url}/f", "root": "{request.base_url}"}}', self.status)
        return PlainTextResponse("a page " * 1000 + f' "{str(request.base_url)[:-1]}" "see {request.url}"', self.status)

    def app(self) -> Starlette:
        routes = [Route("/", self.page), Route("/config", self.page), Route("/other", self.page)]
        return Starlette(routes=routes, middleware=[Middleware(PageCache, edition=lambda: self.edition)])


@pytest.fixture
def pages() -> Pages:
    return Pages()


@pytest.fixture
def client(pages: Pages) -> TestClient:
    return TestClient(pages.app(), raise_server_exceptions=False)


def test_a_page_is_built_once_and_reads_the_same_in_every_encoding(pages: Pages, client: TestClient) -> None:
    expected = "a page " * 1000 + ' "/" "see "+location.origin+"/"'
    for accepted, encoding in (("br, gzip", "br"), ("gzip", "gzip"), ("identity", None)):
        answer = client.get("/?lesson=tokens", headers={"accept-encoding": accepted})
        assert answer.text == expected
        assert answer.headers.get("content-encoding") == encoding
    assert len(pages.built) == 1


def test_many_at_once_wait_for_one_build(pages: Pages) -> None:
    async def burst() -> list[httpx.Response]:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(pages.app()), base_url="http://testserver"
        ) as client:
            return await asyncio.gather(*(client.get("/") for _ in range(20)))

    answers = run(burst())
    assert len({answer.text for answer in answers}) == 1
    assert len(pages.built) == 1


def test_whatever_a_page_is_asked_for_with_it_is_built_once(pages: Pages, client: TestClient) -> None:
    first = client.get("/")
    for number in range(50):
        for headers in (
            {"host": f"host{number}"},
            {"x-forwarded-host": f"host{number}"},
            {"x-forwarded-proto": "https"},
        ):
            again = client.get("/", headers=headers)
            assert (again.text, again.headers["etag"]) == (first.text, first.headers["etag"])
    for path in ("/?deep_link=abc", "/?page=", "/?page=tokens", "//"):
        assert client.get(path).text == first.text
    assert client.head("/").headers["content-length"] == first.headers["content-length"]
    assert client.head("/").content == b""
    assert len(pages.built) == 1


def test_the_configuration_has_no_host(pages: Pages, client: TestClient) -> None:
    for path in ("/config", "/config/", "/config?page=x"):
        assert client.get(path, headers={"host": "evil.example"}).json() == {"file": "/config/f", "root": ""}
    assert len(pages.built) == 1


def test_editions_are_bounded(pages: Pages, client: TestClient) -> None:
    for pages.edition in range(20):  # which the app asks for
        client.get("/")
        client.get("/")
    assert len(pages.built) == 20
    pages.edition = 0
    client.get("/")
    assert len(pages.built) == 21  # the first had to go
    assert EDITIONS * 2 < 20


def test_what_is_no_page_is_not_kept(pages: Pages, client: TestClient) -> None:
    client.get("/other")
    client.get("/other")
    assert len(pages.built) == 2


def test_a_failure_is_not_kept(pages: Pages, client: TestClient) -> None:
    pages.status = 503
    assert client.get("/").status_code == 503
    pages.status, pages.error = 200, True
    assert client.get("/").status_code == 500
    pages.error = False
    assert client.get("/").status_code == 200


def test_a_page_that_the_browser_has_is_not_sent_again(client: TestClient) -> None:
    tag = client.get("/").headers["etag"]
    again = client.get("/", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/", headers={"if-none-match": 'W/"another"'}).status_code == 200


def test_the_real_page_on_the_wire(app_url: str) -> None:
    def read(encoding: str) -> bytes:
        request = urllib.request.Request(app_url, headers={"Accept-Encoding": encoding})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return bytes(answer.read())

    packed = read("br")
    assert len(packed) <= 150_000
    page = brotli.decompress(packed)
    assert page == read("identity") == gzip.decompress(read("gzip"))
    assert b"Inside BERT" in page
    assert page.count(EARLY) == 1
    told = json.loads(re.search(rb"window.gradio_config = (.*?);</script>", page)[1])  # type: ignore[index]
    with urllib.request.urlopen(f"{app_url}/config", timeout=60) as answer:
        whole = json.loads(answer.read())
    assert (told.pop("root"), whole.pop("root")) == ("/", "")
    components = [one for one in whole["components"] if one["id"] in {own["id"] for own in told["components"]}]
    assert told["components"] == components != []
    assert told["current_page"] == ""
    for path in ("", "tokens", "config"):
        with urllib.request.urlopen(f"{app_url}/{path}", timeout=60) as answer:
            assert b"address.invalid" not in answer.read()


def test_before_the_page_is_built_its_ground_is_our_paper() -> None:
    colours = json.loads((ROOT / "demos" / "figures" / "palette.json").read_text(encoding="utf-8"))
    papers = [theme["paper"] for theme in colours.values() if isinstance(theme, dict) and "paper" in theme]
    assert len(papers) == 2
    assert all(f"background: {paper};".encode() in EARLY for paper in papers)


@pytest.mark.parametrize("name", ["Blocks", "Plot", "index"])
def test_gradios_script_is_sent_as_mended(name: str) -> None:
    scripts = mended_scripts(MENDS)
    (path,) = (path for path in scripts if path.startswith(f"/assets/{name}-"))
    mended, original = scripts[path], (SCRIPTS / Path(path).name).read_bytes()
    routes = [Mount("/assets", StaticFiles(directory=SCRIPTS))]
    middleware = [Middleware(PageCache, scripts=scripts), Middleware(BrotliMiddleware)]
    client = TestClient(Starlette(routes=routes, middleware=middleware))
    for accepted in ("br", "gzip", "identity"):
        sent = client.get(path, headers={"accept-encoding": accepted, "range": "bytes=0-9"})
        assert sent.status_code == 200
        assert sent.content == mended != original
        assert sent.headers["cache-control"] == "no-cache"  # its name does not tell how it was mended
    again = client.get(path, headers={"if-none-match": sent.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_gradios_files_are_compressed_once_and_kept_by_the_browser() -> None:
    read: list[str] = []

    class Counted(StaticFiles):
        async def get_response(self, path: str, scope: Scope) -> Response:
            read.append(path)
            return await super().get_response(path, scope)

    middleware = [Middleware(PageCache), Middleware(BrotliMiddleware)]
    client = TestClient(Starlette(routes=[Mount("/assets", Counted(directory=SCRIPTS))], middleware=middleware))
    for pattern, kind in (("Index-*.js", "javascript"), ("Index-*.css", "css"), ("*.svg", "svg")):
        file = next(SCRIPTS.glob(pattern))
        for accepted in ("br", "gzip", "identity"):
            sent = client.get(f"/assets/{file.name}", headers={"accept-encoding": accepted})
            assert sent.content == file.read_bytes()
            assert sent.headers.get("content-encoding", "identity") == accepted
            assert "immutable" in sent.headers["cache-control"]
            assert kind in sent.headers["content-type"]
    assert len(read) == len(set(read)) == 3
    for _ in range(2):  # what is not there is asked for anew, and no path leads out
        assert client.get("/assets/none.js").status_code == 404
    assert read[3:] == ["none.js", "none.js"]
    assert client.get("/assets/../assets/%2e%2e/index.html").status_code == 404

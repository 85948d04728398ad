"""`--mcp`: the API's read-only endpoints as tools, over the wire, by the protocol's own client if it is installed."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from gradio_client import Client

from demos.page.protection.closed_routes import MCP
from tests.conftest import own_app
from tests.hostile.test_requests import send
from tests.run_coroutine import run

protocol = pytest.importorskip("mcp", reason='the protocol\'s client is not here: pip install "gradio[mcp]"')
TEXT, PAIR = "Quizzical wombats outpaced the ferry.", "Nobody on deck had noticed."
CALLS: dict[str, dict[str, Any]] = {
    "tokenize": {"text": TEXT, "text_pair": PAIR, "model": ""},
    "attention": {"text": TEXT, "text_pair": "", "layer": 2, "model": "", "head": 3},
    "embeddings": {"texts": f"{TEXT}\n{PAIR}", "pooling": "mean", "layer": -1, "model": ""},
    "fill_mask": {"text": "The capital of France is [MASK].", "top": 3, "model": ""},
    "next_sentence": {"first": TEXT, "second": PAIR, "model": ""},
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
TOLD = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app with the option."""
    with own_app(tmp_path_factory.mktemp("mcp"), INSIDE_BERT_MCP="1") as address:
        yield address


async def tools_and_answers(url: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """By name, the tools, and the answer of each to its call; and what fine_tune and a wrong layer are answered."""
    from mcp.client.streamable_http import streamablehttp_client

    async with (
        streamablehttp_client(f"{url}{MCP}/") as (reads, writes, _),
        protocol.ClientSession(reads, writes) as one,
    ):
        await one.initialize()
        tools = {tool.name: tool for tool in (await one.list_tools()).tools}
        said = {name: await one.call_tool(name, arguments) for name, arguments in CALLS.items()}
        said["fine_tune"] = await one.call_tool("fine_tune", {"data": "emotion"})
        said["wrong"] = await one.call_tool("attention", CALLS["attention"] | {"layer": 99})
        return tools, said


def test_five_tools_answer_as_the_api_does_and_none_trains(url: str) -> None:
    tools, said = run(tools_and_answers(url))
    assert set(tools) == set(CALLS)
    assert tools["attention"].description.startswith("Tokens, and one layer's attention as heads x n x n nested lists")
    for name, tool in tools.items():
        assert set(CALLS[name]) <= set(tool.inputSchema["properties"])
    client = Client(url, verbose=False)
    for name, arguments in CALLS.items():
        assert not said[name].isError
        assert json.loads(said[name].content[0].text) == client.predict(**arguments, api_name=f"/{name}")
    assert said["fine_tune"].isError
    assert "Unknown tool" in said["fine_tune"].content[0].text
    assert said["wrong"].isError
    assert "layer" in said["wrong"].content[0].text


def test_other_pages_and_endless_streams_are_refused(url: str) -> None:
    assert send(url, f"{MCP}/", LIST, TOLD).status == 200
    assert send(url, f"{MCP}/", LIST, {**TOLD, "origin": "https://elsewhere.example"}).status == 403
    assert send(url, f"{MCP}/", LIST, {**TOLD, "sec-fetch-site": "cross-site"}).status == 403
    assert send(url, f"{MCP}/", headers={"accept": "text/event-stream"}).status == 405
    assert send(url, f"{MCP}/sse").status == 405
    assert send(url, f"{MCP}/messages/", LIST, TOLD).status == 405
    with urllib.request.urlopen(f"{url}/gradio_api/info", timeout=60) as answer:
        assert "/fine_tune" in json.load(answer)["named_endpoints"]  # the API itself is as ever

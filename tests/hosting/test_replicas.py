"""Two replicas behind the real proxy, by assets/hosting/haproxy.cfg: a class goes on when one of them is killed."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from tests.benchmarks._hall_replay import API
from tests.conftest import START_SECONDS, end_app, start_app
from tests.hostile.wire import OURS, send
from tests.hosting.readers import GO_ON, Reader, an_event
from tests.run_coroutine import run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
HOSTING = ROOT / "assets" / "hosting"
STUDENTS = 60
LETTERS = {"one": "A", "two": "B"}  # that the codes of their rooms begin with


@dataclass(frozen=True)
class Hall:
    """The proxy, its admin address, and the replicas' (process, port) by the name that the proxy has for them."""

    url: str
    admin: str
    replicas: dict[str, tuple[int, int]]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_up(hall: Hall, replica: str) -> bool:
    try:
        return restart_script().status(hall.admin, replica)[0] == "UP"
    except OSError:
        return False


def wait_for(what: str, seconds: float, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def restart_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("restart", HOSTING / "restart.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """Two apps and the proxy, for all tests of this file; the last one kills an app."""
    proxy = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")
    if not proxy:
        pytest.skip("no HAProxy on this machine: assets/hosting is not tested")
    replicas, tmp_path = {}, tmp_path_factory.mktemp("hall")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        replicas[name] = start_app(tmp_path / name, INSIDE_BERT_ROOM_LETTER=LETTERS[name])
    url, admin = (f"127.0.0.1:{free_port()}" for _ in range(2))
    ports = {f"REPLICA_{name.upper()}": f"127.0.0.1:{port}" for name, (_, port) in replicas.items()}
    with (tmp_path / "proxy.log").open("w", encoding="utf-8") as log:
        running = subprocess.Popen(
            [proxy, "-db", "-f", str(HOSTING / "haproxy.cfg")],
            env={**os.environ, "BIND": url, "ADMIN": admin, **ports},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    found = Hall(f"http://{url}", f"http://{admin}", replicas)
    try:
        wait_for("the replicas did not start", 2 * START_SECONDS, lambda: is_up(found, "one") and is_up(found, "two"))
        yield found
    finally:
        running.terminate()
        running.wait(timeout=20)
        for pid, port in replicas.values():
            end_app(pid, f"http://127.0.0.1:{port}")


def asked(address: str, **headers: str) -> tuple[int, dict[str, str]]:
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}
    except urllib.error.HTTPError as error:
        return error.code, {}


def cookie_of(hall: Hall) -> str:
    """What a new reader is given."""
    return asked(f"{hall.url}/")[1]["set-cookie"].partition(";")[0]


def test_the_proxy_has_as_many_servers_as_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "benchmarks"))
    replicas = importlib.import_module("tests.benchmarks._hall_replicas")
    addresses = [f"127.0.0.1:{port}" for port in (1, 2, 3)]
    written = replicas.with_servers((HOSTING / "haproxy.cfg").read_text(encoding="utf-8"), addresses)
    servers = [line.split() for line in written.splitlines() if line.lstrip().startswith("server ")]
    assert [(name, address, cookie) for _, name, address, _, cookie in servers] == [
        (f"s{number}", address, f"s{number}") for number, address in enumerate(addresses)
    ]
    assert "${REPLICA" not in written
    assert "stats enable" in written  # what stood behind them


def test_readers_of_one_address_are_shared_out_by_cookie(hall: Hall) -> None:
    assert {cookie_of(hall) for _ in range(6)} == {"replica=one", "replica=two"}
    assert "set-cookie" not in asked(f"{hall.url}/", Cookie="replica=one")[1]


@pytest.mark.parametrize("replica", ["one", "two"])
def test_a_room_is_joined_where_it_was_opened(hall: Hall, replica: str) -> None:
    other = {"one": "two", "two": "one"}[replica]
    opened = send(hall.url, "/room/open?room=", {"base": f"{hall.url}/"}, OURS | {"cookie": f"replica={replica}"})
    code = json.loads(opened.body)["code"]
    assert code.startswith(LETTERS[replica])
    for cookie in ({}, {"cookie": f"replica={other}"}):
        joined = send(hall.url, f"/room/join?room={code.lower()}", {}, OURS | cookie)
        assert joined.status == 200
        said = {
            "member": json.loads(joined.body)["member"],
            "sentence": f"A sentence by who has {len(cookie)} cookies.",
        }
        assert send(hall.url, f"/room/say?room={code}", said, OURS | cookie).status == 200
    strange = LETTERS[other] + code[1:]  # the other's letter
    assert send(hall.url, f"/room/join?room={strange}", {}).status == 404


def test_files_are_kept_by_the_proxy_as_the_app_compressed_them(hall: Hall) -> None:
    page = urllib.request.urlopen(f"{hall.url}/").read().decode()
    file = re.search(r"/assets/index-[\w-]+\.css", page)  # none that is mended on its way
    assert file
    answers = [asked(hall.url + file[0], **{"Accept-Encoding": "gzip, br"}) for _ in range(2)]
    assert [(status, headers["content-encoding"]) for status, headers in answers] == [(200, "br")] * 2
    assert "age" in answers[1][1]  # which only a cache says
    assert "set-cookie" not in asked(hall.url + file[0], Cookie="replica=two")[1]


def test_a_large_body_is_refused_before_it_is_sent(hall: Hall) -> None:
    host, port = hall.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(b"POST /gradio_api/upload HTTP/1.1\r\nHost: hall\r\nContent-Length: 6000000\r\n\r\n")
        assert b" 413 " in connection.recv(100)


def test_a_stream_is_handed_on_as_it_comes(hall: Hall) -> None:
    with urllib.request.urlopen(f"{hall.url}{API}/heartbeat/stream", timeout=30) as stream:
        assert stream.read(5)  # the stream itself never ends


def test_a_drained_replica_keeps_its_readers_and_gets_no_new_ones(hall: Hall, tmp_path: Path) -> None:
    script = restart_script()
    script.set_state(hall.admin, "one", "drain")
    assert script.status(hall.admin, "one")[0] == "DRAIN"
    assert {cookie_of(hall) for _ in range(6)} == {"replica=two"}
    assert "set-cookie" not in asked(f"{hall.url}/", Cookie="replica=one")[1]
    open_page = urllib.request.Request(f"{hall.url}{API}/heartbeat/page", headers={"Cookie": "replica=one"})
    with urllib.request.urlopen(open_page, timeout=30):
        assert not script.restart(hall.admin, "one", ["touch", str(tmp_path / "restarted")], seconds=1)
    assert (tmp_path / "restarted").exists()
    wait_for("the replica is back", 60, lambda: script.status(hall.admin, "one")[0] == "UP")


async def all_answered(readers: list[Reader], since: float = 0.0) -> None:
    """Wait until each reader has the answer to an event that was posted since then."""
    deadline = time.monotonic() + START_SECONDS
    while not all(any(posted > since and is_answered for posted, _, is_answered in one.events) for one in readers):
        assert time.monotonic() < deadline, "some readers have no answer"
        await asyncio.sleep(0.1)


def test_a_killed_replica_costs_no_more_than_what_it_was_answering(hall: Hall) -> None:
    event = an_event(hall.url)

    async def lesson() -> tuple[float, float, list[Reader], list[Reader]]:
        readers = [Reader(hall.url, event) for _ in range(STUDENTS)]
        living = [asyncio.create_task(reader.live()) for reader in readers]
        await all_answered(readers)
        theirs = [reader for reader in readers if reader.replica == "one"]
        others = [reader for reader in readers if reader.replica == "two"]
        pid, killed = hall.replicas["one"][0], time.monotonic()
        os.kill(pid, signal.SIGKILL)
        await asyncio.to_thread(os.waitpid, pid, 0)  # until its memory and its connections are given back
        gone = time.monotonic()
        await all_answered(readers, gone)
        for reader in readers:
            reader.has_ended = True
        await asyncio.gather(*living)
        return killed, gone, theirs, others

    killed, gone, theirs, others = run(lesson())
    assert len(theirs) >= STUDENTS / 4, "the proxy did not share the readers out"
    assert len(others) >= STUDENTS / 4
    for reader in (*theirs, *others):
        assert any(ended < killed and is_answered for _, ended, is_answered in reader.events)
    lost = [(posted, ended) for reader in theirs for posted, ended, is_answered in reader.events if not is_answered]
    under_way = [(posted, ended) for posted, ended in lost if posted <= gone and ended >= killed]
    since = [(round(posted - killed, 3), round(ended - killed, 3)) for posted, ended in lost]
    assert lost == under_way, (since, round(gone - killed, 3))
    assert sum(reader.tally.faults + reader.tally.refused for reader in theirs) == len(lost)  # no page, no file
    assert sum(reader.tally.faults + reader.tally.refused for reader in others) == 0
    for reader in theirs:
        assert any(killed < ended < killed + GO_ON and is_answered for _, ended, is_answered in reader.events)
    assert {reader.replica for reader in theirs} == {"two"}
    print(f"{len(theirs)} readers of the killed replica lost {len(lost)} answers; gone after {gone - killed:.2f} s")

"""Two replicas behind the real proxy, by assets/hosting/haproxy.cfg: a class goes on when one of them is killed."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from tests.benchmarks._hall_replay import API, Student, Tally
from tests.benchmarks._hall_visit import Event, Visit
from tests.conftest import START_SECONDS, end_app, start_app

ROOT = Path(__file__).resolve().parents[2]
HOSTING = ROOT / "assets" / "hosting"
STUDENTS = 20
BEFORE, AFTER = 4, 12  # seconds of events before one replica is killed, and after
GO_ON = 10  # seconds within which each of its readers has an answer again
SENTENCE = "The banker counted her money on the bank of the river."


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


def wait_for(what: str, seconds: float, is_so) -> None:
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


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    proxy = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")
    if not proxy:
        is_set_up = "haproxy" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        assert not (os.environ.get("CI") and is_set_up), "HAProxy was installed by .ci/run and is not there"
        pytest.skip("HAProxy is not installed")
    replicas = {}
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        replicas[name] = start_app(tmp_path / name)
    url, admin = (f"127.0.0.1:{free_port()}" for _ in range(2))
    ports = {f"REPLICA_{name.upper()}": f"127.0.0.1:{port}" for name, (_, port) in replicas.items()}
    with (tmp_path / "proxy.log").open("w") as log:
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


def an_event(hall: Hall) -> Event:
    """A sentence cut into tokens, as the page's own events: through the queue, answered on the stream."""
    config = json.load(urllib.request.urlopen(f"{hall.url}/config"))
    number = next(one["id"] for one in config["dependencies"] if one["api_name"] == "tokenize")
    return Event(json.dumps({"data": [SENTENCE, "", ""], "fn_index": number, "session_hash": "recorded"}), 0.0)


class Reader:
    """A student who asks again and again, and loads the page anew when an answer was lost, as a browser does."""

    def __init__(self, hall: Hall, event: Event) -> None:
        self.tally = Tally()
        self.student = Student(hall.url, self.tally, patience=GO_ON)
        self.page = Visit("page", "/", (), (), "recorded")
        self.asks = Visit("tokens", None, (), (event,), "recorded")
        self.answered: list[float] = []
        self.is_waiting = False

    @property
    def replica(self) -> str:
        return next(cookie.value for cookie in self.student.http.cookie_jar if cookie.key == "replica")

    async def live(self, until: float) -> None:
        await self.student.visit(self.page)
        while time.monotonic() < until:
            before = len(self.tally.answers)
            self.is_waiting = True
            await self.student.visit(self.asks)
            self.is_waiting = False
            if len(self.tally.answers) > before:
                self.answered.append(time.monotonic())
            else:
                await self.student.visit(self.page)
            await asyncio.sleep(0.2)
        await self.student.leave()


def test_a_killed_replica_costs_no_more_than_what_it_was_answering(hall: Hall) -> None:
    event = an_event(hall)

    async def lesson() -> tuple[float, list[Reader], list[Reader], int]:
        readers = [Reader(hall, event) for _ in range(STUDENTS)]
        until = time.monotonic() + BEFORE + AFTER
        living = [asyncio.create_task(reader.live(until)) for reader in readers]
        await asyncio.sleep(BEFORE)
        theirs = [reader for reader in readers if reader.replica == "one"]
        others = [reader for reader in readers if reader.replica == "two"]
        os.kill(hall.replicas["one"][0], signal.SIGKILL)
        killed, under_way = time.monotonic(), sum(reader.is_waiting for reader in theirs)
        await asyncio.gather(*living)
        return killed, theirs, others, under_way

    killed, theirs, others, under_way = asyncio.run(lesson())
    assert len(theirs) >= STUDENTS / 4, "the proxy did not share the readers out"
    assert len(others) >= STUDENTS / 4
    assert all(reader.answered and reader.answered[0] < killed for reader in (*theirs, *others))
    lost = [reader.tally.faults + reader.tally.refused for reader in theirs]
    assert sum(lost) <= under_way
    assert max(lost) <= 1
    assert [reader.tally.faults + reader.tally.refused for reader in others] == [0] * len(others)
    waits = [next((at for at in reader.answered if at > killed), float("inf")) - killed for reader in theirs]
    assert max(waits) < GO_ON
    assert {reader.replica for reader in theirs} == {"two"}


def asked(address: str, **headers: str) -> tuple[int, dict[str, str]]:
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}
    except urllib.error.HTTPError as error:
        return error.code, {}


def test_readers_keep_their_replica_and_it_is_drained_before_a_restart(hall: Hall) -> None:
    """The cookie decides, not the address; files come from the proxy's memory; a large body goes no further."""
    _, headers = asked(f"{hall.url}/")
    cookie = headers["set-cookie"].partition(";")[0]
    mine = cookie.partition("=")[2]
    both = {asked(f"{hall.url}/")[1]["set-cookie"].partition(";")[0] for _ in range(6)}
    assert both == {"replica=one", "replica=two"}

    page = urllib.request.urlopen(f"{hall.url}/").read().decode()
    file = "/assets/" + page.split("/assets/index-")[1].partition('"')[0]
    file = file.replace("/assets/", "/assets/index-")
    for _ in range(2):
        status, headers = asked(hall.url + file, **{"Accept-Encoding": "gzip, br"})
        assert (status, headers["content-encoding"]) == (200, "br")
    assert "age" in headers
    assert asked(hall.url + "/", **{"Accept-Encoding": "gzip"})[1]["content-encoding"] == "gzip"

    with socket.create_connection(hall.url.removeprefix("http://").split(":")) as connection:
        connection.sendall(b"POST /gradio_api/upload HTTP/1.1\r\nHost: hall\r\nContent-Length: 6000000\r\n\r\n")
        assert b" 413 " in connection.recv(100)

    with urllib.request.urlopen(f"{hall.url}{API}/heartbeat/stream", timeout=5) as stream:
        began = time.monotonic()
        assert stream.read(5)  # while the stream goes on
        assert time.monotonic() - began < 3

    script = restart_script()
    script.set_state(hall.admin, mine, "drain")
    assert script.status(hall.admin, mine)[0] == "DRAIN"
    other = ({"one", "two"} - {mine}).pop()
    assert {asked(f"{hall.url}/")[1]["set-cookie"].partition(";")[0] for _ in range(6)} == {f"replica={other}"}
    assert "set-cookie" not in asked(f"{hall.url}/", Cookie=cookie)[1]  # its own reader stays
    wait_for("an empty replica", 30, lambda: script.status(hall.admin, mine)[1] == 0)
    script.set_state(hall.admin, mine, "ready")
    wait_for("the replica is back", 10, lambda: script.status(hall.admin, mine)[0] == "UP")

"""ZeroGPU, as its own client meets it: a GPU is lent, refused, taken back and dies; and then the CPU trains the same.

Its device API is stood in for by a server here, which kills a worker as ZeroGPU's host does. No GPU is needed:
tests/training/service/zero_gpu_app.py says what else is stood in for.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.systems import needs_fork
from tests.training.service.test_gpu_quota import token_of

pytestmark = [pytest.mark.slow, needs_fork]

ROOT = Path(__file__).resolve().parents[3]
LENT = {"nvidiaIndex": 0, "nvidiaUUID": "GPU-0", "allowToken": "allowed"}
SHORT = {"LEAST_SECONDS": 6, "START_SECONDS": 0, "MARGIN": 0.0}
# Each run, what the device API says to it (status, headers, body), and what the run is to end with.
RUNS: list[tuple[dict[str, Any], Any]] = [
    ({"name": "lent", "epochs": 2}, (200, {}, {**LENT, "idle": False})),
    ({"name": "lent again", "epochs": 2}, (200, {}, {**LENT, "idle": True})),
    ({"name": "after a wait", "epochs": 2}, "queue"),
    (
        {"name": "over quota", "epochs": 2, "token": token_of(ip="1.2.3.4", user="ann")},
        (429, {"X-Approve-Result": "quota-exceeded", "X-Authenticated": "regular"}, {"left": 12, "wait": 12_000}),
    ),
    ({"name": "none free", "epochs": 2}, (503, {}, {})),
    ({"name": "forgotten", "epochs": 2, "token": token_of(ip="1.2.3.4")}, (401, {}, {})),
    ({"name": "silence", "epochs": 2}, "silence"),
    ({"name": "dies", "epochs": 20}, (200, {}, {**LENT, "idle": False})),
    # The program's own clock would end this one in time: it is set wrong.
    (
        {"name": "expires", "epochs": 20, "rows": 4_000, "quota": SHORT | {"KEEP_SECONDS": -600}},
        (200, {}, {**LENT, "idle": False}),
    ),
    ({"name": "on the CPU", "epochs": 2, "on_cpu": True}, None),
]


class DeviceAPI(ThreadingHTTPServer):
    """/schedule answers by the list, /allow notes the worker's process, /release how it ended."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Asked)
        self.runs = iter([(run, answer) for run, answer in RUNS if answer is not None])
        self.scheduled: dict[str, dict[str, str]] = {}
        self.pids: dict[str, int] = {}
        self.released: list[tuple[str, str]] = []
        self.run = ""
        self.learns = threading.Event()  # the run "expires"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def expire(self) -> None:
        """The time of the run "expires" is over; not before it has begun to learn, however busy this machine is."""
        self.learns.wait(60)
        self.kill("expires")

    def kill(self, run: str) -> None:
        """The worker that this run was lent, as the host does when its time is over."""
        os.kill(self.pids[run], signal.SIGKILL)


class Asked(BaseHTTPRequestHandler):
    server: DeviceAPI

    def do_POST(self) -> None:
        path, query = urlsplit(self.path).path, dict(parse_qsl(urlsplit(self.path).query))
        getattr(self, path.strip("/").replace("-", "_"))(query)

    def schedule(self, query: dict[str, str]) -> None:
        run, answer = next(self.server.runs)
        self.server.run = run["name"]
        self.server.scheduled[run["name"]] = query
        if answer == "silence":
            self.close_connection = True
        elif answer == "queue":
            self.answer(200, {"X-Queuing-Reason": "node"}, None)
            for message in ("event: ping", f"event: succeeded\ndata: {json.dumps({**LENT, 'idle': True})}"):
                self.wfile.write(f"{message}\n\n".encode())
                self.wfile.flush()
                threading.Event().wait(0.5)  # else httpx reads both at once, and the client parses one
        else:
            self.answer(*answer)

    def allow(self, query: dict[str, str]) -> None:
        self.server.pids[self.server.run] = int(query["pid"])
        self.answer(200, {}, {})
        if self.server.run == "expires":
            seconds = float(self.server.scheduled["expires"]["durationSeconds"])
            threading.Timer(seconds, self.server.expire).start()

    def release(self, query: dict[str, str]) -> None:
        self.server.released.append((self.server.run, query["fail"]))
        self.answer(200, {}, {})

    def answer(self, status: int, headers: dict[str, str], body: Any) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/event-stream" if body is None else "application/json")
        self.end_headers()
        if body is not None:
            self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: Any) -> None:
        pass


class Seen:
    """What the runs told, and what the device API was asked."""

    def __init__(self, api: DeviceAPI, log: Path) -> None:
        self.api, self.log = api, log
        self.events: dict[str, list[dict[str, Any]]] = {run["name"]: [] for run, _ in RUNS}

    def read(self, events: int) -> None:
        with open(events, encoding="utf-8") as lines:
            for line in lines:
                event = json.loads(line)
                self.events[event["run"]].append(event)
                if event["run"] == "expires" and event["event"] == "step":
                    self.api.learns.set()
                if event["run"] == "dies" and event["event"] == "step" and event["step"] == 3:
                    self.api.kill("dies")

    def last(self, run: str) -> dict[str, Any]:
        assert self.events[run], self.log.read_text(encoding="utf-8")[-4_000:]
        return self.events[run][-1]

    def losses(self, run: str) -> list[float]:
        return [event["loss"] for event in self.events[run] if event["event"] == "step"]


@pytest.fixture(scope="module")
def seen(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """All of RUNS, one after the other, in one process that takes itself for a ZeroGPU Space."""
    api = DeviceAPI()
    env = {
        **os.environ,
        "SPACES_ZERO_GPU": "1",
        "SPACES_ZERO_DEVICE_API_URL": f"http://127.0.0.1:{api.server_port}",
        "PYTHONWARNINGS": "ignore",
    }
    command = [sys.executable, "-m", "tests.training.service.zero_gpu_app", str(base)]
    made = Seen(api, tmp_path_factory.mktemp("zero_gpu") / "log")
    events, told = os.pipe()  # of their own: what the worker prints would come between
    with made.log.open("w", encoding="utf-8") as log:
        app = subprocess.Popen(
            [*command, json.dumps([run for run, _ in RUNS]), str(told)],
            cwd=ROOT, env=env, stdout=log, stderr=log, pass_fds=[told],
        )  # fmt: skip
    os.close(told)
    reader = threading.Thread(target=made.read, args=(events,))
    reader.start()
    try:
        reader.join(timeout=240)
        yield made
    finally:
        app.kill()
        app.wait()
        api.shutdown()


def test_a_gpu_that_is_lent_trains_and_its_worker_is_used_again(seen: Seen) -> None:
    first, second, queued = (seen.losses(run) for run in ("lent", "lent again", "after a wait"))
    assert len(first) > 10
    assert first == second == queued  # in a worker that has trained before, too
    for run in ("lent", "lent again", "after a wait"):
        assert seen.last(run)["event"] == "finished"
    assert set(seen.api.pids) == {"lent", "dies", "expires"}  # the workers that were begun
    assert 40 <= int(seen.api.scheduled["lent"]["durationSeconds"]) < 60  # the least, or what a busy machine needs
    assert ("lent", "false") in seen.api.released


OVER = "This run needs {lent} s of GPU time; you have 12 s left, and get more in 3 h 20 min."
CHOICE = "To train on hardware of your choice, choose “Duplicate this Space” in this Space’s menu on huggingface.co."


@pytest.mark.parametrize(
    ("run", "told", "started"),
    [
        ("over quota", f"{OVER} {CHOICE}", False),
        ("none free", "No GPU is free at this moment.", False),
        ("forgotten", "Your ZeroGPU session expired while the run waited; click Start again.", False),
        ("silence", "ZeroGPU does not answer at this moment.", False),
        ("dies", "The process on the GPU ended during the run; nothing of the run was saved.", True),
        ("expires", "The run lost its GPU after 6 seconds and stopped; nothing of it was saved.", True),
    ],
)
def test_a_run_without_its_gpu_says_why_and_may_go_on_the_cpu(seen: Seen, run: str, told: str, started: bool) -> None:
    last, told = seen.last(run), told.format(lent=seen.api.scheduled[run]["durationSeconds"])
    assert (last["event"], last["on_cpu"], last["message"]) == ("failed", True, told)
    assert bool(seen.losses(run)) == started
    assert ((run, "true") in seen.api.released) == started  # what was lent is given back


def test_the_same_run_on_the_cpu_asks_for_no_gpu_and_learns_the_same(seen: Seen) -> None:
    assert seen.last("on the CPU")["event"] == "finished"
    assert "on the CPU" not in seen.api.scheduled
    started = next(event for event in seen.events["on the CPU"] if event["event"] == "started")
    assert started["device"] == "CPU"
    assert seen.losses("on the CPU") == pytest.approx(seen.losses("lent"), abs=2e-3)

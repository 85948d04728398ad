"""Events with values that no page sends: each function of the page, some of its values replaced by odd ones."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from tests.hostile.wire import listen, send

HALF = "\ud800"
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7, 0.5, -0.0, 1e308, 10**18, -(10**18), 2**70),
    *("", " ", "a", "-1", "NaN", "0.5", HALF, "\0", "<script>alert(1)</script>", "${alert(1)}", "../../etc/passwd"),
    *("w " * 3_000, "🙂" * 300, "\u202e\u0301", "[MASK] " * 40, "a\nb\n" * 200, "{", "[[1,2],[3]]", '{"a": {}}'),
    *([], [None], [1, "a", {}], [[[]]], ["a"] * 300, {}, {"value": HALF}, {"__type__": "update"}),
    *({"path": "/etc/passwd"}, {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}, {"url": "http://x"}),
    *({"headers": [1], "data": [[{}]], "metadata": 3}, {"headers": ["a"], "data": [["b"]], "metadata": None}),
)
IDS: tuple[Any, ...] = (HALF, "", "x" * 99, "../x", -1, 10**9, 1.5, [], {}, True)
FIELDS = "session_hash", "event_id", "trigger_id", "fn_index", "event_data", "batched", "simple_format", "data"


@dataclass
class Report:
    """What came of the events: by status or outcome, and those that did not end in time."""

    outcomes: Counter[str] = field(default_factory=Counter)
    hung: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Report) -> None:
        self.outcomes += other.outcomes
        self.hung += other.hung

    @property
    def failed(self) -> int:
        """Answers that say that the server is at fault."""
        return sum(count for outcome, count in self.outcomes.items() if outcome in ("500", "502"))


def fuzz(url: str, events: int, seed: int = 0, at_once: int = 6, seconds: float = 60.0) -> Report:
    """Send `events` odd events, in sessions of ten, and fetch their answers; an answer may take `seconds`."""
    config = json.loads(send(url, "/config").body)
    values = {one["id"]: one["props"].get("value") for one in config["components"]}
    functions = [one for one in config["dependencies"] if one["backend_fn"]]
    whole = Report()
    begun = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        sessions = range(max(1, events // 10))
        for report in pool.map(
            lambda n: _session(url, functions, values, random.Random(f"{seed}/{n}"), seconds), sessions
        ):
            whole.add(report)
    whole.seconds = time.monotonic() - begun
    return whole


def _session(
    url: str, functions: list[dict[str, Any]], values: dict[int, Any], chance: random.Random, seconds: float
) -> Report:
    report, session = Report(), f"fuzz{chance.getrandbits(60):x}"
    taken: dict[str, int] = {}  # the function's number, by the event's id
    for _ in range(10):
        function = chance.choice(functions)
        data = [values.get(component) for component in function["inputs"]]
        for _ in range(chance.randint(1, 2)):
            if data:
                data[chance.randrange(len(data))] = chance.choice(ODD)
        wrong = {chance.choice(FIELDS): chance.choice((*ODD, *IDS))} if chance.random() < 0.2 else {}
        sent = {"fn_index": function["id"], "data": data, "session_hash": session} | wrong
        answer = send(url, "/gradio_api/queue/join", sent)
        report.outcomes[str(answer.status)] += 1
        if answer.status == 200 and "session_hash" not in wrong:
            taken[json.loads(answer.body)["event_id"]] = function["id"]
    if taken:
        left = set(taken)
        try:
            with closing(listen(url, f"/gradio_api/queue/data?session_hash={session}", seconds)) as lines:
                for line in lines:
                    message = json.loads(line.removeprefix("data: "))
                    if message["msg"] in ("process_completed", "process_generating"):
                        left.discard(message["event_id"])  # what streams is left at its first answer
                        report.outcomes[f"{message['msg']}, {'well' if message['success'] else 'refused'}"] += 1
                    if not left:
                        break
        except TimeoutError:
            report.hung.append(f"{session}: functions {sorted(taken[event] for event in left)} of {len(taken)}")
    return report

"""What goes wrong in a class: broken files, texts too long, runs that are cancelled, readers who are gone at once."""

from __future__ import annotations

import io
import json
import random
import socket
import time
import uuid
import zipfile
from collections import Counter
from contextlib import closing, suppress
from typing import Any
from urllib.parse import urlsplit

from tests.hostile.wire import join, listen, send

LONG = "a far too long sentence " * 4_000


def _archive() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("xl/workbook.xml", "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><x>&a;</x>")
    return written.getvalue()


BROKEN = {
    "notes.csv": b"text,label\nfine,yes\n\xce\xf2\xeb\xe8\xf7\xed\xee,no\n",
    "quotes.csv": b'text,label\n"never closed,yes\n',
    "empty.csv": b"",
    "one column.txt": b"text\nfine\n",
    "cut.json": b'[{"text": "a", "label"',
    "deep.json": b"[" * 50_000,
    "cut.xlsx": _archive()[:-30],
    "foreign.xlsx": _archive(),
    "picture.png": b"\x89PNG\r\n\x1a\n",
    "zeros.csv": bytes(1_000),
}


class Troubles:
    """A class's mishaps, one after the other; `told` counts what each was answered with."""

    def __init__(self, url: str, seed: int = 0) -> None:
        self.url, self.chance = url, random.Random(seed)
        self.told: Counter[str] = Counter()
        config = json.loads(send(url, "/config").body)
        self.values = {one["id"]: one["props"].get("value") for one in config["components"]}
        self.files = {one["id"] for one in config["components"] if one["type"] == "file"}
        self.texts = {one["id"] for one in config["components"] if one["type"] == "textbox"}
        self.functions = [one for one in config["dependencies"] if one["backend_fn"] and one["inputs"]]

    def day(self, rounds: int) -> None:
        for _ in range(rounds):
            for trouble in (self.broken_files, self.long_texts, self.cancelled_run, self.vanished):
                trouble()

    def broken_files(self) -> None:
        """One of the broken files, handed to functions that take a file."""
        name = self.chance.choice(list(BROKEN))
        form = {"content-type": "multipart/form-data; boundary=x"}
        head = f'--x\r\ncontent-disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode()
        (path,) = json.loads(send(self.url, "/gradio_api/upload", head + BROKEN[name] + b"\r\n--x--\r\n", form).body)
        file = {"path": path, "orig_name": name, "meta": {"_type": "gradio.FileData"}}
        self._ask("a broken file", dict.fromkeys(self.files, file))

    def long_texts(self) -> None:
        self._ask("a text too long", dict.fromkeys(self.texts, LONG), most=8)

    def _ask(self, what: str, values: dict[int, Any], most: int = 12) -> None:
        """Some functions that take these components, with these values for them."""
        taking = [one for one in self.functions if not values.keys().isdisjoint(one["inputs"])]
        session = uuid.uuid4().hex
        waiting = set()
        for function in self.chance.sample(taking, min(most, len(taking))):
            data = [values.get(number, self.values[number]) for number in function["inputs"]]
            answer = join(self.url, function["id"], data, session)
            if answer.status == 200:
                waiting.add(json.loads(answer.body)["event_id"])
            else:
                self.told[f"{what}: {answer.status}"] += 1
        with closing(listen(self.url, f"/gradio_api/queue/data?session_hash={session}", 120)) as lines:
            for line in lines:
                message = json.loads(line.removeprefix("data: "))
                if message["msg"] in ("process_completed", "process_generating"):
                    waiting.discard(message["event_id"])  # what streams is left at its first answer
                    self.told[f"{what}: {'answered' if message['success'] else 'refused'}"] += 1
                if not waiting:
                    break

    def cancelled_run(self) -> None:
        """A training whose reader cancels it, or closes the tab."""
        trained = {"data": ["emotion", "mean", 5, 1e-4, 16, 0, "", "all", ""]}
        event = json.loads(send(self.url, "/gradio_api/call/fine_tune", trained).body)["event_id"]
        with closing(listen(self.url, f"/gradio_api/call/fine_tune/{event}")) as lines:
            for _, line in zip(range(self.chance.randrange(2, 12)), lines, strict=False):
                self.told["a run: told"] += bool(line)
            if self.chance.random() < 0.5:
                cancel = {"session_hash": event, "event_id": event, "fn_index": 0}
                self.told[f"a run: canceled, {send(self.url, '/gradio_api/cancel', cancel).status}"] += 1

    def vanished(self) -> None:
        """Connections that are closed in the middle of whatever they were for."""
        place, session = urlsplit(self.url), uuid.uuid4().hex
        function = self.chance.choice(self.functions)
        join(self.url, function["id"], [self.values[number] for number in function["inputs"]], session)
        form = "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9000\r\n\r\n--x\r\n"
        head = 'content-disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'
        for request in (
            f"GET /gradio_api/queue/data?session_hash={session} HTTP/1.1\r\nHost: a\r\n\r\n",
            f"GET /gradio_api/heartbeat/{session} HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            f"POST /gradio_api/upload HTTP/1.1\r\nHost: a\r\n{form}{head}text,label\n",
            "POST /gradio_api/queue/join HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n{",
        ):
            with socket.create_connection((place.hostname, place.port), timeout=10) as connection:
                connection.sendall(request.encode())
                time.sleep(self.chance.uniform(0, 0.05))
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self.told["vanished"] += 1

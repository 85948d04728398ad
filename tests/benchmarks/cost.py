"""What a new sentence costs the server, part by part: one reader, nobody else there.

`python tests/benchmarks cost [--only encoder/block ...] [--sentences 12]`: a browser opens each part and a sentence is
put into the bar. What it posts is posted again with other sentences. Processor time, not the clock: a busy machine
changes it little. Beside it are the forward pass alone and a bare Gradio page that echoes the text, of the same run.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import psutil
import torch
from page import BARE, free_port, running_app, start
from playwright.sync_api import Page, Request, sync_playwright

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.encoding import encode
from demos.bert.model.models import ModelStore
from demos.bert.model.run import run_model
from demos.lessons import discover
from tests.benchmarks._hall_loads import listening
from tests.benchmarks._hall_replay import API, other_sentence
from tests.benchmarks._hall_visit import TYPED
from tests.chromium import find_chromium

SENTENCES = 12
MOST, MOST_KILOBYTES = 40.0, 120.0  # milliseconds of processor time
DECODING, MOST_DECODING = ("translation", "family"), 100.0  # lessons whose parts decode or search
REST, SHORT_REST = 2_500, 300  # milliseconds
BOX = "#bar-text textarea"


@dataclass(frozen=True)
class Cost:
    """Of one sentence, the mean of several: the system counts processor time in hundredths of a second."""

    milliseconds: float  # until the last answer
    processor: float  # milliseconds of the server's
    kilobytes: float  # of all answers


def parts() -> Iterator[tuple[str, str]]:
    """(lesson/part, address) of every part whose picture follows the sentence in the bar."""
    for lesson in discover():
        if not lesson.parts:
            yield lesson.slug, f"/{lesson.slug}"
        for part in lesson.parts:
            if part.reads_sentence:
                yield f"{lesson.slug}/{part.slug}", f"/{lesson.slug}?part={part.slug}"


def recorded(page: Page, address: str, box: str, rest: int) -> list[str]:
    """The bodies of the events that the page posts when TYPED is put into the box, `rest` ms after its opening."""
    bodies: list[str] = []
    page.on("request", lambda request: bodies.append(request.post_data or "") if is_event(request) else None)
    page.goto(address)
    page.wait_for_timeout(rest)
    bodies.clear()
    with nullcontext() if box == BOX else page.expect_request(is_event):  # a part may ask for nothing
        page.locator(box).fill(TYPED)
    page.wait_for_timeout(rest)
    return bodies


def is_event(request: Request) -> bool:
    """Whether the page posts an event."""
    return "/queue/join" in request.url


def cost(url: str, bodies: list[str], processor: Callable[[], float], count: int) -> Cost:
    """Post the events with `count` other sentences, one after the other, after one that is not counted.

    No other part has read them: the forward pass is in what they cost.
    """
    chance, costs = random.Random("".join(bodies)), []
    with httpx.Client(base_url=url, timeout=60) as http:
        session = secrets.token_hex(6)
        for _ in range(count + 1):
            sentence, before, began, size = other_sentence(chance), processor(), time.monotonic(), 0
            waited = set()
            for body in bodies:
                asked = json.loads(body.replace(TYPED, sentence)) | {"session_hash": session}
                waited.add(http.post(f"{API}/queue/join", json=asked).raise_for_status().json()["event_id"])
            with http.stream("GET", f"{API}/queue/data", params={"session_hash": session}) as answers:
                for line in answers.iter_lines():
                    size += len(line)
                    message = json.loads(line[5:]) if line.startswith("data:") else {}
                    if message.get("msg") == "process_completed":
                        waited.discard(message["event_id"])
                    if not waited:
                        break
            costs.append(Cost((time.monotonic() - began) * 1_000, (processor() - before) * 1_000, size / 1_000))
    means = [statistics.mean(values) for values in zip(*(vars(one).values() for one in costs[1:]), strict=True)]
    return Cost(*means)


def processor_of(url: str) -> Callable[[], float]:
    """Seconds of processor time that the process which serves this address has taken."""
    port = urlsplit(url).port
    process = next(one for one in psutil.process_iter() if port in listening(one))
    return lambda: sum(process.cpu_times()[:2])


@contextmanager
def bare_page() -> Iterator[str]:
    """A Gradio page with two components, whose box is echoed."""
    port = free_port()
    process, _ = start([sys.executable, "-c", BARE.format(port=port)], port)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()


def pass_alone(count: int) -> float:
    """Milliseconds of processor time of one forward pass of the bundled model, on one thread."""
    torch.set_num_threads(1)
    loaded, chance, times = ModelStore().get(BUNDLED), random.Random(0), []
    for _ in range(count + 1):
        encoding = encode(loaded.tokenizer, other_sentence(chance))
        before = time.process_time()
        run_model(loaded, [encoding])
        times.append((time.process_time() - before) * 1_000)
    return statistics.mean(times[1:])


def main(options: list[str], short: bool = False) -> None:
    """Print a row a part; SystemExit where one costs more than it may."""
    parser = argparse.ArgumentParser(prog="python tests/benchmarks cost", description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=1 if short else SENTENCES)
    parser.add_argument("--only", action="append", help="lesson/part; may be given again")
    asked = parser.parse_args(options)
    if not (chromium := find_chromium()):
        print("not measured, no Chromium on this machine")
        return
    chosen = [one for one in parts() if not asked.only or one[0] in asked.only][: 2 if short else None]
    missed = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])

        def measured(url: str, address: str, box: str = BOX) -> Cost | None:
            page = browser.new_page()
            bodies = recorded(page, url + address, box, SHORT_REST if short else REST)
            page.close()
            return cost(url, bodies, processor_of(url), asked.sentences) if bodies else None

        one_pass = pass_alone(asked.sentences)
        print(f"one forward pass, {one_pass:.0f} ms of processor time")
        with bare_page() as url:
            bare = measured(url, "/", "#box textarea")
            assert bare is not None
            print(f"a bare Gradio page that echoes the text: {bare.processor:.0f} ms")
        least = one_pass + bare.processor
        with running_app(short) as url:
            for name, address in chosen:
                found = measured(url, address)
                if found is None:
                    print(f"{name}: nothing is asked for a new sentence")
                    continue
                most = MOST_DECODING if name.startswith(DECODING) else MOST
                over = found.processor > most or found.kilobytes > MOST_KILOBYTES
                missed += [name] * over
                told = f"{found.processor:.0f} ms of processor time, {found.processor / least:.1f} times the least"
                sent = f"{found.milliseconds:.0f} ms to the answer; {found.kilobytes:.0f} kB"
                print(f"{name}: {told}; {sent}{' MISSED' * over}", flush=True)
        browser.close()
    if missed and not short:
        raise SystemExit(
            f"{len(missed)} of {len(chosen)} parts take over {MOST:.0f} ms ({MOST_DECODING:.0f} where they decode) "
            f"or {MOST_KILOBYTES:.0f} kB: {', '.join(missed)}"
        )


if __name__ == "__main__":
    main([])

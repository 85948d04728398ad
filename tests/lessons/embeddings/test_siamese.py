"""Train on pairs, through its handlers: before, a run, one pair in both towers, and what keeps a run from starting."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from demos.bert.embeddings.agreement import correlation, scores_of
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.embeddings import LESSON
from demos.lessons.embeddings.siamese import controller as siamese
from demos.lessons.embeddings.siamese.controller import CHANGED, PairTrainer, Situation, read_pair_settings
from demos.lessons.embeddings.siamese.part import BAR, NO_PAIR, PART, SHOWN
from demos.page.lesson import Page
from demos.page.services import Services
from demos.training.data.rated_pairs import OWN, UPLOAD
from demos.training.service import training_service
from demos.training.service.gpu_worker import NoGPUError, run_training
from demos.training.tasks.siamese.data import our_split
from tests.lessons.embeddings.answers import answering
from tests.page.tiny_store import TinyStore

BAR_TEXTS = ("The bank is closed.", "", "tiny")
NOBODY = ("", "")  # a reader without a key, who has begun nothing
OURS = (OWN, None, "mean", "trained", 2e-3, 1, 16, 0)


@pytest.fixture(scope="module")
def services(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Services:
    files = tmp_path_factory.mktemp("tiny")
    return Services(TinyStore.written(tiny, files), "tiny")


@pytest.fixture(scope="module")
def handlers(services: Services) -> list[Callable[..., Any]]:
    """(show, show_pair, show_own, begin, begin on the CPU, stream, resume, stop, the curve's own question)."""
    wired: list[Callable[..., Any]] = []

    class Recorder(Page):
        def on(self, triggers: Any, handler: Any, inputs: Any, outputs: Any, **options: Any) -> None:
            wired.append(answering(handler, outputs))

    with gr.Blocks() as blocks:
        box = gr.Textbox
        PART.build(Recorder(LESSON, services, box(), box(), box(), box(), box(), gr.HTML(), gr.State("")))
    curve = next(one for one in blocks.blocks.values() if getattr(one, "elem_id", "") == "embeddings-siamese-curve")
    return [*wired, *curve.server_fns]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the other tests: two threads that wait for each other are slow on a busy machine."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def train(
    handlers: list[Callable[..., Any]], *inputs: Any, reader: str = "a-reader-with-a-key", on_cpu: bool = False
) -> Iterator[Any]:
    """What a press of Start changes, by name; first what the button itself does."""
    _, _, _, begin, begin_on_cpu, stream, *_ = handlers
    pressed = (begin_on_cpu if on_cpu else begin)(reader, "")
    begun = dict(zip(("run", "begun", "start", "stop", "on_cpu"), pressed, strict=True))
    assert begun["on_cpu"]["visible"] is False
    yield begun
    for changes in stream(begun["run"], reader, *inputs):
        yield dict(zip(CHANGED, changes, strict=True))


def test_from_opening_to_a_trained_pair_and_back(handlers: list[Callable[..., Any]], services: Services) -> None:
    show, show_pair, show_own, _, _, stream, resume, stop, news = handlers
    *_, opened = (dict(zip(SHOWN, one, strict=True)) for one in show(*BAR_TEXTS, *NOBODY, "", "", *OURS))
    held_out, loaded = our_split(0).held_out, services.loaded("tiny")
    sides = [
        services.vectors.get(loaded, [getattr(pair, side) for pair in held_out], [Choice("mean", 2)])[0]
        for side in ("first", "second")
    ]
    rho = correlation(cosine(*sides), scores_of(held_out)).spearman
    assert f"<b>{rho:.2f} " in opened["scores"]
    assert "74 held-out pairs" in opened["scores"]
    assert len(opened["scatter"].data[1].x) == 74
    assert json.loads(opened["curve"])["done"]

    updates = list(train(handlers, *BAR_TEXTS, "", None, *OURS))
    first, last = updates[0], updates[-1]
    assert len(updates) <= 4  # its beginning and its end: between them the curve asks
    assert news([first["run"], 0, 0, 0]) == ""  # it is over
    assert first["run"]
    assert first["stop"]["interactive"] is True
    assert (last["kept"], last["run"], last["situation"]) == (first["run"], "", opened["situation"])
    assert "pairs/s" in json.loads(last["curve"])["status"]
    assert len(json.loads(last["curve"])["looks"][-1]) == 6
    assert "agreement ρ after" in last["scores"]
    assert "→" in last["towers"]
    assert held_out[last["pair"]["value"]].first[:20] in last["towers"]  # the menu says whose towers they are
    # the same situation again: the result stays; another one: only the untrained pairs
    (same,) = show(*BAR_TEXTS, *NOBODY, "", last["situation"], *OURS)
    assert dict(zip(SHOWN, same, strict=True))["scatter"] == gr.skip()
    *_, other = (
        dict(zip(SHOWN, one, strict=True))
        for one in show(*BAR_TEXTS, *NOBODY, "", last["situation"], *OURS[:2], "max", *OURS[3:])
    )
    assert other["situation"] != last["situation"]
    assert other["after"]["visible"] is False

    asked = (last["kept"], last["situation"], last["cosines"], *OURS)
    towers, drawn = show_pair(*BAR_TEXTS, 3, *asked)
    assert held_out[3].first[:20] in towers
    assert "→" in towers
    assert len(drawn.data) == 4
    towers, _ = show_pair("A cat.", "A dog <b>.", "tiny", BAR, *asked)
    assert "A dog &lt;b&gt;." in towers
    assert "no human rating" in towers
    assert show_own("A cat.", "A dog <b>.", "tiny", BAR, *asked)[0] == towers  # as it is typed
    assert show_own("A cat.", "A dog <b>.", "tiny", 3, *asked) == [gr.skip()] * 2
    assert show_own("A cat.", " ", "tiny", BAR, *asked) == [gr.skip()] * 2
    with pytest.raises(UserError, match=NO_PAIR):
        show_pair(*BAR_TEXTS, BAR, *asked)
    stranger, _ = show_pair(*BAR_TEXTS, 3, "someone else's", *asked[1:])
    assert "→" not in stranger
    assert stop("")["interactive"] is False
    # A page that is loaded anew shows nothing that the run would be drawn over, and then the run.
    reader = "a-reader-with-a-key"
    *_, anew = (dict(zip(SHOWN, one, strict=True)) for one in show(*BAR_TEXTS, reader, "", "", "", *OURS))
    assert anew["scatter"] == gr.skip()
    run, begun, *_ = resume(reader, "", "")
    assert run == begun == first["run"]
    (whole,) = stream(run, reader)
    found = dict(zip(CHANGED, whole, strict=True))
    assert (found["kept"], found["run"], found["situation"]) == (run, "", last["situation"])
    services.trainings.runs.discard(last["kept"])


def test_untrained_layers_begin_otherwise_and_stop_keeps(handlers: list[Callable[..., Any]]) -> None:
    show, *_, stop, news = handlers
    random = (*OURS[:3], "random", 1e-3, 10, 4, 0)
    *_, opened = (dict(zip(SHOWN, one, strict=True)) for one in show(*BAR_TEXTS, *NOBODY, "", "", *random))
    assert "untrained" in opened["data"]
    run = train(handlers, *BAR_TEXTS, "", None, *random, reader="the-reader-who-is-first")
    begun = next(run)
    next(run)
    others = train(handlers, *BAR_TEXTS, "", None, *OURS, reader="the-reader-who-waits")
    waiting = next(others)
    next(others)
    assert "1 run is ahead of yours" in json.loads(news([waiting["run"], 0, 0, 0]))["status"]
    assert json.loads(news([begun["run"], 0, 0, 0]))["run"] == begun["run"]
    stop(waiting["run"])
    assert "removed from the queue" in json.loads(list(others)[-1]["curve"])["status"]
    assert news([waiting["run"], 0, 0, 0]) == ""
    stop(begun["run"])
    *_, last = run
    assert json.loads(last["curve"])["status"].startswith("Stopped after")
    assert opened["scores"][:60] == last["scores"][:60]  # the same ρ before, once by the page and once by the run


def test_an_untrained_encoder_is_drawn_once_and_counts_as_held(services: Services) -> None:
    trainer, together = PairTrainer(services), threading.Barrier(4)

    def begin(seed: int) -> LoadedModel:
        together.wait(timeout=30)
        settings = read_pair_settings("mean", "random", 1e-3, 1, 4, seed)
        return trainer.beginning(Situation("tiny", our_split(0), settings))

    before = services.memory.usage().get("untrained models", 0)
    with ThreadPoolExecutor(4) as pool:
        first, again, other, more = pool.map(begin, (7, 7, 8, 8))
    assert first is again is not other
    assert other is more
    assert services.memory.usage()["untrained models"] - before == first.nbytes + other.nbytes


def test_a_run_without_a_gpu_is_offered_on_the_cpu_with_the_bundled_model(
    handlers: list[Callable[..., Any]], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []

    def lent_to_nobody(*run: Any) -> Iterator[Any]:
        asked.append(run)
        if not run[-2]:
            raise NoGPUError("No GPU.")
        yield from run_training(*run)

    monkeypatch.setattr(training_service, "run_training", lent_to_nobody)
    monkeypatch.setattr(siamese, "BUNDLED", "tiny")
    *_, refused = train(handlers, *BAR_TEXTS, "", None, *OURS, reader="the-reader-without-gpu")
    assert json.loads(refused["curve"])["status"] == "No GPU."
    assert refused["on_cpu"]["visible"] is True
    *_, last = train(handlers, *BAR_TEXTS, "", None, *OURS, reader="the-reader-without-gpu", on_cpu=True)
    assert last["on_cpu"] == gr.skip()
    assert services.trainings.runs.base(last["kept"]) == "tiny"
    (gpu, *_), (cpu, *_) = asked
    assert gpu is cpu


def test_what_keeps_a_run_from_starting_is_one_sentence(handlers: list[Callable[..., Any]], tmp_path: Path) -> None:
    show = handlers[0]
    broken = tmp_path / "broken.csv"
    broken.write_text("a,b,1\na,c,2\na,d,x\n", encoding="utf-8")
    _, update = train(handlers, *BAR_TEXTS, "", None, UPLOAD, str(broken), *OURS[2:])
    assert "Row 3 has a score that is not a number" in json.loads(update["curve"])["status"]
    for wrong in (
        (UPLOAD, None, *OURS[2:]),
        (*OURS[:4], None, *OURS[5:]),
        (*OURS[:7], -1),
        (OWN, None, "sum", *OURS[3:]),
    ):
        with pytest.raises(UserError):
            list(show(*BAR_TEXTS, *NOBODY, "", "", *wrong))

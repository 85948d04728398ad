"""Train on pairs: before, a run, one pair in both towers, and what keeps a run from starting."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from demos.bert.embeddings.agreement import correlation, scores_of
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.embeddings.siamese import controller as siamese
from demos.lessons.embeddings.siamese.controller import CHANGED, PairTrainer, Situation
from demos.lessons.embeddings.siamese.part import BAR, BEGINNING, NO_PAIR, NO_RUN, OTHER_RUN, RECIPE, TrainOnPairs
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.data.rated_pairs import UPLOAD, read_data
from demos.training.service import training_service
from demos.training.service.gpu_worker import NoGPUError, run_training
from demos.training.settings import Settings
from demos.training.tasks.siamese.data import our_split, split_pairs
from tests.lessons.embeddings.answers import answering, as_read, recorded
from tests.page.tiny_store import TinyStore

BAR_TEXTS = Sentence("The bank is closed.", "", "tiny")
OURS: dict[str, Any] = {"siamese_pooling": "mean", "siamese_rate": 5e-4, "siamese_epochs": 1}


@pytest.fixture(scope="module")
def services(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Services:
    files = tmp_path_factory.mktemp("tiny")
    return Services(TinyStore.written(tiny, files), "tiny")


@pytest.fixture(scope="module")
def handlers(services: Services) -> dict[str, Callable[..., Any]]:
    """The buttons' handlers, and the curve's own question."""
    page = recorded(services, TrainOnPairs().build)
    names = ("begin", "begin_on_cpu", "stream", "resume", "stop")
    wired = {name: answering(one.handler, one.outputs) for name, one in zip(names, page.wired, strict=False)}
    return wired | {"news": services.shared(PairTrainer).feeds.news}


def show(services: Services, sentence: Sentence = BAR_TEXTS, **said: Any) -> dict[str, Any]:
    return {name: as_read(value) for name, value in TrainOnPairs().shown(services, sentence, **OURS | said).items()}


def train(
    handlers: dict[str, Callable[..., Any]], reader: str = "a-reader-with-a-key", on_cpu: bool = False, **said: Any
) -> Iterator[Any]:
    """What a press of Start changes, by name; first what the button itself does."""
    pressed = handlers["begin_on_cpu" if on_cpu else "begin"](reader, "")
    begun = dict(zip(("run", "begun", "start", "stop", "on_cpu"), pressed, strict=True))
    assert begun["on_cpu"]["visible"] is False
    yield begun
    said = OURS | said
    for changes in handlers["stream"](begun["run"], reader, "tiny", None, *map(said.get, (*BEGINNING, *RECIPE))):
        yield dict(zip(CHANGED, changes, strict=True))


def test_from_opening_to_a_trained_pair_and_back(handlers: dict[str, Callable[..., Any]], services: Services) -> None:
    opened = show(services)
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
    assert json.loads(opened["curve"])["status"] == NO_RUN
    assert "after your first run" in opened["numbers"]

    updates = list(train(handlers))
    first, last = updates[0], updates[-1]
    assert len(updates) <= 4  # its beginning and its end: between them the curve asks
    assert handlers["news"]([first["run"], 0, 0, 0]) == ""  # it is over
    assert first["run"]
    assert first["stop"]["interactive"] is True
    assert (last["ran"].run, last["run"]) == (first["run"], "")
    assert hash(last["ran"])  # Gradio compares a page's State by it
    assert "pairs/s" in json.loads(last["curve"])["status"]
    assert len(json.loads(last["curve"])["looks"][-1]) == 6
    page = {"begun": first["run"], "ran": last["ran"]}
    ended = show(services, **page)
    assert "agreement ρ after" in ended["scores"]
    assert "→" in ended["towers"]
    assert ended["siamese_pair"]["choices"][0][0][:20] in ended["towers"]  # the menu says whose towers they are
    assert ended["curve"] == last["curve"]
    assert ended["moved"].count("<tr>") == 8 + 1
    assert "cosine after" in ended["numbers"]
    # the same beginning again: the result stays; another one: only the untrained pairs, and back again
    assert show(services, siamese_epochs=2, **page)["scores"] == ended["scores"]
    other = show(services, **page, siamese_pooling="max")
    assert other["moved"] == ""
    assert len(other["scatter"].data) == 3
    assert json.loads(other["curve"])["status"] == OTHER_RUN
    assert "curve" not in show(services, **page, siamese_pooling="max", run="another, under way")
    assert show(services, **page)["scatter"] == ended["scatter"]

    (fourth, place), bars_own = ended["siamese_pair"]["choices"][3], ended["siamese_pair"]["choices"][-1]
    assert (place, bars_own[1], len(ended["siamese_pair"]["choices"])) == (3, BAR, 41)
    shown = show(services, **page, siamese_pair=3)
    assert fourth[:20] in shown["towers"]
    assert "→" in shown["towers"]
    assert len(shown["scatter"].data) == 4
    typed = show(services, Sentence("A cat.", "A dog <b>.", "tiny"), **page, siamese_pair=BAR)
    assert "A dog &lt;b&gt;." in typed["towers"]
    assert "no human rating" in typed["towers"]
    assert len(typed["scatter"].data) == 3  # no ring
    for second in ("", " "):
        with pytest.raises(UserError, match=NO_PAIR):
            show(services, Sentence("A cat.", second, "tiny"), **page, siamese_pair=BAR)
    stranger = show(services, ran=replace(last["ran"], run="someone else's"), siamese_pair=3)
    assert "→" not in stranger["towers"]
    assert handlers["stop"]("")["interactive"] is False
    # A page that is loaded anew draws no curve over that of the run, and then gets the run.
    reader = "a-reader-with-a-key"
    anew = show(services, reader=reader)
    assert "curve" not in anew
    run, begun, *_ = handlers["resume"](reader, "", "")
    assert run == begun == first["run"]
    (whole,) = handlers["stream"](run, reader, "tiny", *map(OURS.get, ("ran", *BEGINNING, *RECIPE)))
    found = dict(zip(CHANGED, whole, strict=True))
    assert (found["run"], found["ran"], found["curve"]) == ("", last["ran"], last["curve"])
    assert show(services, reader=reader, begun=begun, ran=found["ran"])["scores"] == ended["scores"]
    services.trainings.runs.discard(run)


def test_a_link_names_a_pair_beyond_the_held_out_ones(services: Services, tmp_path: Path) -> None:
    few = tmp_path / "few.csv"
    few.write_text("".join(f"dogs bark {k},cats sleep {k},{k % 6}\n" for k in range(24)), encoding="utf-8")
    shown = show(services, siamese_data=UPLOAD, file=str(few), siamese_pair=30)
    *offers, (_, bars_own) = shown["siamese_pair"]["choices"]
    assert [place for _, place in offers] == list(range(len(our_rows(few))))
    assert (shown["siamese_pair"]["value"], bars_own) == (len(offers) - 1, BAR)
    assert offers[-1][0].split(" / ")[0] in shown["towers"]


def our_rows(file: Path) -> tuple[int, ...]:
    """The held-out rows of a file."""
    return split_pairs(read_data(UPLOAD, str(file)), 0).held_out_rows


def test_untrained_layers_begin_otherwise_and_stop_keeps(
    handlers: dict[str, Callable[..., Any]], services: Services
) -> None:
    random = {"siamese_start": "random", "siamese_epochs": 10, "siamese_batch": 4}
    opened = show(services, **random)
    assert "untrained" in opened["data"]
    run = train(handlers, "the-reader-who-is-first", **random)
    begun = next(run)
    next(run)
    others = train(handlers, "the-reader-who-waits")
    waiting = next(others)
    next(others)
    news, stop = handlers["news"], handlers["stop"]
    assert "1 run is ahead of yours" in json.loads(news([waiting["run"], 0, 0, 0]))["status"]
    assert json.loads(news([begun["run"], 0, 0, 0]))["run"] == begun["run"]
    stop(waiting["run"])
    *_, removed = others
    assert "removed from the queue" in json.loads(removed["curve"])["status"]
    assert removed["ran"] == gr.skip()  # the run before it stays
    assert news([waiting["run"], 0, 0, 0]) == ""
    stop(begun["run"])
    *_, last = run
    assert json.loads(last["curve"])["status"].startswith("Stopped after")
    ended = show(services, **random, ran=last["ran"])
    assert opened["scores"][:60] == ended["scores"][:60]  # the same ρ before, once by the page and once by the run


def test_an_untrained_encoder_is_drawn_once_and_counts_as_held(services: Services) -> None:
    trainer, together = PairTrainer(services), threading.Barrier(4)

    def begin(seed: int) -> LoadedModel:
        together.wait(timeout=30)
        settings = Settings(pooling="mean", start="random", seed=seed)
        return trainer.beginning(Situation("tiny", our_split(0), settings))

    before = services.memory.usage().get("untrained models", 0)
    with ThreadPoolExecutor(4) as pool:
        first, again, other, more = pool.map(begin, (7, 7, 8, 8))
    assert first is again is not other
    assert other is more
    assert services.memory.usage()["untrained models"] - before == first.nbytes + other.nbytes


def test_a_run_without_a_gpu_is_offered_on_the_cpu_with_the_bundled_model(
    handlers: dict[str, Callable[..., Any]], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []

    def lent_to_nobody(*run: Any) -> Iterator[Any]:
        asked.append(run)
        if not run[-2]:
            raise NoGPUError("No GPU.")
        yield from run_training(*run)

    monkeypatch.setattr(training_service, "run_training", lent_to_nobody)
    monkeypatch.setattr(siamese, "BUNDLED", "tiny")
    *_, refused = train(handlers, "the-reader-without-gpu")
    assert json.loads(refused["curve"])["status"] == "No GPU."
    assert refused["on_cpu"]["visible"] is True
    *_, last = train(handlers, "the-reader-without-gpu", on_cpu=True)
    assert last["on_cpu"] == gr.skip()
    assert services.trainings.runs.base(last["ran"].run) == "tiny"
    (gpu, *_), (cpu, *_) = asked
    assert gpu is cpu


def test_what_keeps_a_run_from_starting_is_one_sentence(
    handlers: dict[str, Callable[..., Any]], services: Services, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text("a,b,1\na,c,2\na,d,x\n", encoding="utf-8")
    _, update = train(handlers, siamese_data=UPLOAD, file=str(broken))
    assert "Row 3 has a score that is not a number" in json.loads(update["curve"])["status"]
    for file in (None, str(broken)):
        with pytest.raises(UserError):
            show(services, siamese_data=UPLOAD, file=file)


def test_what_a_link_says_wrong_is_within_the_bounds(services: Services) -> None:
    on = On(services, BAR_TEXTS)
    wrong = {"siamese_pooling": "sum", "siamese_rate": 3, "siamese_epochs": 99, "siamese_batch": 1, "siamese_seed": -1}
    read = TrainOnPairs().read(on, wrong | {"siamese_pair": 99})
    assert (read.siamese_pooling, read.siamese_rate, read.siamese_epochs) == ("cls", 5e-5, 10)
    assert (read.siamese_batch, read.siamese_seed, read.siamese_pair) == (4, 0, 0)

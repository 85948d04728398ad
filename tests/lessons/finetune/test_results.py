"""The part "What it learned": a sample before a run, one's own run after it, what fits each task, nobody else's."""

from typing import Any

import gradio as gr
import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from demos.bert.attention.saliency import count_words
from demos.bert.embeddings.maps import own_share
from demos.bert.embeddings.pooling import Choice
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel, ModelStore
from demos.files import DATA
from demos.lessons.finetune import LESSON
from demos.lessons.finetune.results.data import OWN, Afterwards
from demos.lessons.finetune.results.part import ATTENTION, MAP, TRUST, WORDS, Results
from demos.lessons.finetune.results.sample import sample
from demos.lessons.finetune.results.text import TEXT
from demos.page import progress
from demos.page.lesson import Page
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.data.tables import Row
from demos.training.events import Finished
from demos.training.results.answers import FILE
from demos.training.results.evidence import Evidence, surest_errors
from demos.training.settings import Settings
from demos.training.sources import SOURCES
from demos.training.tasks.classification.data import Example, build_dataset, load_emotion
from tests.lessons.finetune.sample_json import ERRORS, sample_json
from tests.one_line import flat
from tests.page.tiny_store import TinyStore

MEAN = Choice("mean", 6)
BAR = Sentence("The quiet river ran under the bank.", "", "tiny")
QUICK = Settings(epochs=1, learning_rate=3e-3, batch_size=16, max_length=24, threads=1)


@pytest.fixture(scope="module")
def services(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Services:
    files = tmp_path_factory.mktemp("tiny")
    return Services(TinyStore.written(tiny, files), "tiny")


@pytest.fixture(scope="module")
def afterwards(services: Services) -> Afterwards:
    return services.shared(Afterwards)


def trained(services: Services, dataset: Any) -> str:
    """The id of a finished run."""
    run = services.trainings.runs.new()
    *_, last = services.trainings.fine_tune(run, dataset, "tiny", services.store.folder("tiny"), QUICK)
    assert isinstance(last, Finished)
    return run


@pytest.fixture(scope="module")
def pairs_run(services: Services) -> str:
    """A run on pairs whose class nothing in them tells, so that there are errors."""
    rows = [
        Row(number, f"<b>stone</b> {number} ${{x}} green", ("no", "<yes>")[number * 7 % 5 % 2], pair=f"river {number}")
        for number in range(1, 81)
    ]
    return trained(services, build_dataset("pairs", rows))


def shown(services: Services, view: str, run: str = "", error: str = "0", bar: Sentence = BAR) -> dict[str, Any]:
    return Results().shown(services, bar, after=view, after_error=error, run=run)


def visible(found: dict[str, Any]) -> list[str]:
    return [name for name in (MAP, ATTENTION, WORDS, TRUST) if found[name]["visible"]]


@pytest.mark.parametrize("view", [MAP, ATTENTION, WORDS, TRUST])
def test_before_any_run_there_is_a_sample_told_so(services: Services, view: str) -> None:
    found = shown(services, view)
    assert "Sample, until you train a model" in found["status"] + found.get("decided", "")
    assert visible(found) == [view]
    assert "<table" in found["numbers"]


def test_a_run_on_pairs_before_and_after(services: Services, afterwards: Afterwards, pairs_run: str) -> None:
    views = {view: shown(services, view, pairs_run) for view in (MAP, ATTENTION, WORDS, TRUST)}
    assert [visible(found) for found in views.values()] == [[MAP], [ATTENTION], [WORDS], [TRUST]]
    assert not any("sample" in found["status"] for found in views.values())
    own = afterwards.of(pairs_run)
    mapped = afterwards.mapped(own)
    layout = drained(afterwards.layout(afterwards.services.tuned(pairs_run), mapped))
    share = own_share(layout.nearest, mapped.classes).mean()
    assert f"<b>{share:.0%}</b>" in views[MAP]["after_told"]
    assert views[MAP]["after_map"]["visible"]
    choices = views[WORDS]["after_error"]["choices"]
    assert len(choices) == len(surest_errors(own.answers, 12)) + 1 > 2
    assert "&lt;yes&gt;" in views[WORDS]["tokens"]
    other = shown(services, WORDS, pairs_run, error=str(ERRORS - 1))  # beyond the end is the last error
    assert other["after_error"]["value"] == str(len(choices) - 2)
    assert choices[-1][1] == OWN
    assert "Write both sentences." in shown(services, WORDS, pairs_run, error=OWN)["tokens"]
    html = "".join(value for found in views.values() for value in found.values() if isinstance(value, str))
    assert "<yes>" not in html
    assert "<b>stone" not in html


@pytest.mark.parametrize(
    ("key", "trusted"),
    [("entities", True), ("endings", True), ("restaurants", True), ("questions", False), ("similarity", False)],
)
def test_other_tasks_show_what_applies(services: Services, key: str, trusted: bool) -> None:
    data = SOURCES[key].load(0, 50)
    few = {name: getattr(data, name)[:12] for name in ("train", "validation", "test")}
    run = trained(services, type(data)(**{**vars(data), **few}))
    assert TEXT.no_classes() == shown(services, MAP, run)["status"]
    assert visible(shown(services, WORDS, run)) == []
    assert visible(shown(services, ATTENTION, run)) == [ATTENTION]
    found = shown(services, TRUST, run)
    assert visible(found) == ([TRUST] if trusted else [])
    assert trusted or TEXT.no_probabilities(score=key == "similarity") == found["status"]
    services.trainings.runs.discard(run)


@pytest.mark.parametrize("pair", ["", "No river ran there."])
def test_the_bars_sentence_before_any_run_is_classified_by_the_bundled_adapter(store: ModelStore, pair: str) -> None:
    services = Services(store, BUNDLED)
    bar = Sentence("The quiet river ran under the bank.", pair, BUNDLED)
    found = shown(services, WORDS, error=OWN, bar=bar)
    trained = services.ready.get("pair" if pair else "sentence")
    (row,) = trained.answers([Example(bar.text, 0, pair)])
    best, second = sorted(range(len(row)), key=lambda label: -row[label])[:2]
    told = flat(found["decided"])
    assert f"Prediction: <b>{trained.task.labels[best]}</b>, {row[best]:.0%}." in told
    assert f"Second most probable: <b>{trained.task.labels[second]}</b>" in told
    assert "is classified by the model that “Ready models” uses" in told
    assert found["after_error"]["value"] == OWN
    assert all(f'<th scope="row">{word}</th>' in found["tokens"] for word in ("quiet", "river", "bank"))


def test_progress_is_told_and_the_result_is_kept(
    services: Services, pairs_run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "BETWEEN", -1)
    results, on = Results(), On(services, Sentence("stone three", "river four", "tiny"))
    c = results.read(on, {"after": WORDS, "after_error": OWN, "run": pairs_run})
    first, *_, last = results.draw(on, c)
    assert "64 of 64 steps" in first["decided"]
    assert list(results.draw(on, c)) == [last]


def test_a_run_that_is_gone_is_told_and_the_sample_is_back(services: Services) -> None:
    data = load_emotion()
    run = trained(services, type(data)(**{**vars(data), **{one: getattr(data, one)[:60] for one in ("train", "test")}}))
    folder = services.trainings.runs.folder(run)
    assert (folder / FILE).exists()
    services.trainings.runs.discard(run)
    assert not folder.exists()  # the sentences go with the model
    found = shown(services, TRUST, run)
    assert "no longer kept" in found["status"]
    assert visible(found) == [TRUST]


def test_the_sample_is_what_the_bundled_model_was_measured_with() -> None:
    one = sample()
    test = load_emotion().test
    assert one.labels == load_emotion().labels
    assert len(one.answers.right) == len(one.answers.confidence) == len(test)
    assert {error.example.text for error in one.errors} <= {example.text for example in test}
    for error, evidence in zip(one.errors, one.evidence, strict=True):
        assert isinstance(evidence, Evidence)
        assert len(evidence.gradient) == len(evidence.integrated) == len(evidence.encoding)  # the words still cut so
        assert len(evidence.left_out) == count_words(evidence.encoding)
        assert evidence.integrated.sum() == pytest.approx(evidence.margin - evidence.masked, abs=0.01)
        assert (evidence.answer, evidence.other) == (error.predicted, error.example.label)
        assert error.predicted != error.example.label
        assert evidence.margin > 0
    upper, lower = one.heads[len(one.heads) // 2 :].mean(), one.heads[: len(one.heads) // 2].mean()
    assert upper > 2 * lower  # fine-tuning moves the upper layers most
    found = list(zip(one.errors, one.evidence, strict=True))
    written = sample_json(one.description, one.text, one.labels, one.answers, one.heads, found)
    path = DATA / "after.json"
    assert written == path.read_text(encoding="utf-8")
    assert len(one.errors) == ERRORS


def test_the_bundled_models_number_before_a_training(store: ModelStore) -> None:

    services = Services(store, BUNDLED)
    mapped = Afterwards(services).sample()
    layout = drained(Afterwards(services).layout(services.loaded(BUNDLED), mapped))
    choice = services.vectors.get(services.loaded(BUNDLED), [one.text for one in mapped.examples], [MEAN])[0]
    nearest = NearestNeighbors(n_neighbors=10, metric="cosine").fit(choice).kneighbors(return_distance=False)
    share = (mapped.classes[nearest] == mapped.classes[:, None]).mean()
    assert own_share(layout.nearest, mapped.classes).mean() == pytest.approx(share, abs=0.002)
    assert np.isclose(share, 0.33, atol=0.01)


def test_it_is_a_part_of_the_lesson_and_travels_in_the_link(services: Services) -> None:
    assert "results" in [part.slug for part in LESSON.parts]
    with gr.Blocks():
        box = gr.Textbox
        page = Page(LESSON, services, box(), box(), box(), box(), box(), gr.Column(), gr.State(""))
        Results().build(page)
    assert set(page.choices) == {"after", "after_error"}

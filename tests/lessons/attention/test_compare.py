"""Two at once: which sides are compared and by which heads, against transformers' own; what can't be is told."""

import copy
import json
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.attention.contributions import contributions
from demos.bert.model.catalogue import CATALOGUE, ModelSpec
from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.lessons.attention.compare.part import (
    LEFT,
    OTHER,
    RIGHT,
    Compare,
    fetched,
    head_choices,
    layer_choices,
    taken,
)
from demos.page.bar import DEFAULT_TEXT
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.learning.model import Model, keep
from demos.training.tasks.classification.task import Classification
from tests.plotly_figure import plotly
from tests.shown_values import with_values

TEXT = "The kettle had already boiled dry."
VIEW = Compare()
MENUS = (*LEFT, *RIGHT, "compare_measure")
FIRST = ("0", "4", "same", "same")


@pytest.fixture(scope="module")
def services(bundled: LoadedModel, tiny: LoadedModel) -> Services:
    """Two models in memory: the bundled one and the random one of another shape."""
    store = ModelStore({**CATALOGUE, tiny.spec.key: tiny.spec})
    for loaded in (bundled, tiny):
        store._models.put(loaded.spec.key, loaded)
    return Services(store, bundled.spec.key)


@pytest.fixture(scope="module")
def run(services: Services, tiny: LoadedModel) -> str:
    """A reader's fine-tune of the random model: its weights, moved a little and kept."""
    encoder = copy.deepcopy(tiny.model)
    generator = torch.Generator().manual_seed(4)
    for parameter in encoder.parameters():
        parameter.data += 5 * torch.randn(parameter.shape, generator=generator) * parameter.std()
    task = Classification(("no", "yes"))
    head = task.head(32, torch.Generator().manual_seed(0))
    run = services.trainings.runs.new()
    keep(Model(encoder, head, tiny.tokenizer), task, 32, services.trainings.runs.folder(run))
    services.trainings.runs.keep(run, tiny.spec.key)
    return run


def said(
    mode: str, *, run: str = "", model: str = "", text: str = "", menus: tuple[str, ...] = FIRST
) -> dict[str, str]:
    """The choices by name."""
    chosen = {"trained": run, "compare": mode, "compare_model": model, "compare_text": text}
    return chosen | dict(zip(MENUS, menus, strict=False))


def shown(services: Services, sentence: Sentence, mode: str, **choices: Any) -> dict[str, Any]:
    """The outputs that change, by name."""
    return dict(with_values(VIEW.shown)(services, sentence, **said(mode, **choices)))


def file_of(services: Services, sentence: Sentence, mode: str, **choices: Any) -> tuple[str, str]:
    on = On(services, sentence)
    return taken(on, VIEW.read(on, said(mode, **choices)))


def attentions(model: Any, tokenizer: Any, *texts: str) -> np.ndarray:
    """transformers' own: [L, H, n, n]"""
    with torch.inference_mode():
        output = model(**tokenizer(*texts, return_tensors="pt"), output_attentions=True)
    return np.stack([layer[0].numpy() for layer in output.attentions])


def numbers(figure: Any) -> np.ndarray:
    return np.array(plotly(figure).data[0].z, dtype=float)


def test_it_opens_on_two_banks(services: Services, bundled: LoadedModel) -> None:
    found = shown(services, Sentence(DEFAULT_TEXT, "", "minilm"), "sentences", text=OTHER)
    assert "from <q>bank</q> to <q>river → city</q> <b>−0.68</b> (left 0.74, right 0.06)" in found["said"]
    theirs = [attentions(bundled.model, bundled.tokenizer, text)[0, 4] for text in (DEFAULT_TEXT, OTHER)]
    cells = []
    for text, place in ((DEFAULT_TEXT, "river"), (OTHER, "city")):
        pieces = ["[CLS]", *bundled.tokenizer.tokenize(text)]
        cells.append((pieces.index("bank"), pieces.index(place)))
    names = [name.split(" ", 1)[1] for name in plotly(found["difference"]).data[0].y]
    shown_cell = numbers(found["difference"])[names.index("bank"), names.index("river → city")]
    assert shown_cell == pytest.approx(theirs[1][cells[1]] - theirs[0][cells[0]], abs=6e-5)
    assert found["status"] == ""
    assert found["overview"]["visible"]
    assert numbers(found["heads"]).shape == (6, 12)
    compile(found["program"], "snippet", "exec")


def test_by_contribution_all_that_is_said_is_of_shares(services: Services, bundled: LoadedModel) -> None:
    sentence, other = Sentence(TEXT, "", "minilm"), "The kettle had already boiled over."
    menus = ("3", "2", "same", "same", "contribution")
    found = shown(services, sentence, "sentences", text=other, menus=menus)
    norms = [contributions(bundled, services.run(Sentence(text, "", "minilm")), 3).norms[2] for text in (TEXT, other)]
    left, right = (one / one.sum(axis=1, keepdims=True) for one in norms)
    np.testing.assert_allclose(numbers(found["difference"]), right - left, atol=6e-5)
    assert "<b>Layer 4, head 3, by contribution.</b>" in found["said"]
    assert "On average, the two sides' shares differ by" in found["said"]
    assert "Left, layer 4, head 3, by contribution" in found["numbers"]
    name, text = file_of(services, sentence, "sentences", text=other, menus=menus)
    document = json.loads(text)
    assert (name, document["measure"]) == ("bert-attention-difference-layer-4-head-3.json", "contribution")
    np.testing.assert_allclose(document["left"]["weights"], left, atol=2e-6)


def test_the_bars_second_sentence_stands_alone_on_the_right(services: Services, bundled: LoadedModel) -> None:
    other = "The kettle had already boiled over."
    found = shown(services, Sentence(TEXT, other, "minilm"), "sentences", text="not this", menus=("3", "2", "5", "1"))
    left, right = (attentions(bundled.model, bundled.tokenizer, text) for text in (TEXT, other))
    np.testing.assert_allclose(numbers(found["difference"]), right[5, 1] - left[3, 2], atol=6e-5)
    assert not found["other"]["visible"]
    assert "Each sentence is encoded separately" in found["status"]
    assert "boiled over" in found["right_name"]
    assert "Layer 4, head 3, compared with layer 6, head 2." in found["said"]
    assert shown(services, Sentence(TEXT, "", "minilm"), "sentences", text=other)["other"]["visible"]


def test_one_sentence_twice_differs_nowhere(services: Services) -> None:
    found = shown(services, Sentence(TEXT, "", "minilm"), "sentences", text=TEXT)
    assert (numbers(found["difference"]) == 0).all()
    assert (numbers(found["heads"]) == 0).all()
    assert "no weight differs" in found["said"]


def test_what_was_typed_stays_text(services: Services) -> None:
    found = shown(services, Sentence(TEXT, "", "minilm"), "sentences", text="<img src=x onerror=alert(1)>")
    assert "Right: “&lt;img src=x" in found["right_name"]
    assert all("<img" not in found[name] for name in ("right_name", "said", "largest", "numbers"))


def test_two_models_of_different_shape(services: Services, bundled: LoadedModel, tiny: LoadedModel) -> None:
    """A layer and head that the smaller model has not become its last; without a map of heads there is none shown."""
    sentence = Sentence(TEXT, "Nobody noticed.", "minilm")
    found = shown(services, sentence, "models", model="tiny", menus=("5", "11", "same", "same"))
    left = attentions(bundled.model, bundled.tokenizer, TEXT, "Nobody noticed.")
    right = attentions(tiny.model, tiny.tokenizer, TEXT, "Nobody noticed.")
    np.testing.assert_allclose(numbers(found["difference"]), right[1, 3] - left[5, 11], atol=6e-5)
    assert not found["overview"]["visible"]
    assert [value for _, value in found["compare_layer_right"]["choices"]] == ["same", "0", "1", "all"]
    assert "Layer 6, head 12, compared with layer 2, head 4." in found["said"]
    mean = shown(services, sentence, "models", model="tiny", menus=("all", "4", "1", "mean"))
    np.testing.assert_allclose(numbers(mean["difference"]), right[1].mean(axis=0) - left.mean(axis=(0, 1)), atol=6e-5)
    beyond = shown(services, sentence, "models", model="tiny", menus=("0", "4", "7", "9"))
    assert [beyond[name]["value"] for name in RIGHT] == ["1", "3"]
    same = shown(services, sentence, "models", model="minilm")
    assert "Both sides use the same model" in same["status"]


def test_before_and_after_a_fine_tune(services: Services, run: str, tiny: LoadedModel) -> None:
    found = shown(services, Sentence(TEXT, "", "tiny"), "tuned", run=run, menus=("1", "2", "same", "same"))
    encoder = services.trainings.runs.trained(run).model.encoder
    before, after = (attentions(model, tiny.tokenizer, TEXT) for model in (tiny.model, encoder))
    assert np.abs(after - before).max() > 0.01
    np.testing.assert_allclose(numbers(found["difference"]), after[1, 2] - before[1, 2], atol=6e-5)
    assert numbers(found["heads"]).shape == (2, 4)
    assert found["status"] == ""
    assert "my-fine-tune" in found["program"]
    assert run not in found["program"]
    other_base = shown(services, Sentence(TEXT, "", "minilm"), "tuned", run=run)
    assert "fine-tuned from Tiny random BERT" in other_base["status"]
    assert "before, Tiny random BERT" in other_base["left_name"]


@pytest.mark.parametrize(
    ("mode", "options", "sentence"),
    [
        ("tuned", {}, "Fine-tune lesson"),
        ("tuned", {"run": "gone"}, "no longer kept"),
        ("models", {}, "Choose the second model."),
        ("models", {"model": "gpt"}, "There is no model &#39;gpt&#39;"),
        ("sentences", {"text": "  "}, "Write the other sentence"),
        ("sentences", {"text": "a" * 20_001}, "20,001 characters"),
    ],
)
def test_what_is_missing_is_told_and_the_pictures_stay(
    services: Services, mode: str, options: dict[str, str], sentence: str
) -> None:
    found = shown(services, Sentence(TEXT, "", "minilm"), mode, **options)
    assert sentence in found["status"]
    assert set(found) == {"status", "wanted", "second", "other"}


def test_a_model_that_is_not_in_memory_is_asked_for_and_its_absence_told(services: Services) -> None:
    """No hub is in reach of the tests."""
    found = shown(services, Sentence(TEXT, "", "minilm"), "models", model="bert-tiny")
    assert found["wanted"] == "bert-tiny"
    assert set(found) == {"wanted", "second", "other"}  # no pass waits for it
    assert "arrived" in VIEW.drawings()[0].by, "else what was drawn before it came would be given again"
    told = list(fetched(services, "bert-tiny", "minilm"))
    assert "could not be downloaded" in told[-1]["status"]
    assert all("arrived" not in values for values in told)


def test_a_model_on_its_way_says_so(services: Services, tiny: LoadedModel, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """The load is held back until its progress was read, so nothing depends on who is quicker."""
    late = ModelStore({**services.store.catalogue, "late": ModelSpec("late", "Late", "", "", 2, 4, 32, cased=False)})
    loading: Future[LoadedModel] = Future()
    monkeypatch.setattr(late, "begin", lambda key: loading)
    told = fetched(Services(late, "minilm"), "late", "minilm")
    first = next(told)
    assert "Loading Late" in first["status"]
    assert "arrived" not in first
    late._models.put("late", tiny)
    loading.set_result(tiny)
    assert list(told)[-1]["arrived"]


def test_a_model_that_arrives_asks_for_a_drawing(services: Services, tiny: LoadedModel, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """`arrived` says something new each time, so that the page draws."""
    late = ModelStore({**services.store.catalogue, "late": ModelSpec("late", "Late", "", "", 2, 4, 32, cased=False)})

    def begin(key: str) -> Future[LoadedModel]:
        late._models.put(key, tiny)
        done: Future[LoadedModel] = Future()
        done.set_result(tiny)
        return done

    monkeypatch.setattr(late, "begin", begin)
    waiting = Services(late, "minilm")
    first, again = (list(fetched(waiting, "late", "minilm"))[-1] for _ in range(2))
    assert first["status"] == again["status"] == ""
    assert first["arrived"] != again["arrived"]
    assert list(fetched(waiting, "", "minilm")) == [{}]


def test_what_is_taken_away_is_what_is_drawn(services: Services, bundled: LoadedModel) -> None:
    sentence, menus = Sentence(TEXT, "", "minilm"), ("3", "2", "same", "1")
    name, text = file_of(services, sentence, "sentences", text="The unflappable kettle boiled.", menus=menus)
    assert name == "bert-attention-difference-layer-4-head-3.json"
    document = json.loads(text)
    assert document["left"]["tokens"] == bundled.tokenizer(TEXT).tokens()
    assert (document["right"]["layer"], document["right"]["head"]) == (3, 1)
    rows = document["rows"]
    i, j = rows.index("kettle"), rows.index("boiled")
    theirs = attentions(bundled.model, bundled.tokenizer, TEXT)[3, 2]
    assert document["left"]["weights"][i][j] == pytest.approx(float(theirs[2, 5]), abs=1e-5)
    assert document["difference"][rows.index("had")] == [None] * len(rows)
    left, right, difference = (np.array(values, dtype=float) for values in (
        document["left"]["weights"], document["right"]["weights"], document["difference"]
    ))  # fmt: skip
    np.testing.assert_allclose(difference, right - left, atol=2e-6)
    assert np.array(document["moved"]).shape == (6, 12)
    with pytest.raises(UserError, match="still being downloaded"):
        file_of(services, sentence, "models", model="bert-tiny")


def test_the_heads_that_differ_most_are_on_buttons(services: Services) -> None:
    found = shown(services, Sentence(DEFAULT_TEXT, "", "minilm"), "sentences", text=OTHER)
    layer, head = map(int, found["picks"].split(";")[0].split(","))
    heads = numbers(found["heads"])
    assert heads[layer, head] == heads.max()
    assert found["first"]["value"].startswith(f"layer {layer + 1}, head {head + 1}: {heads.max():.0%}")


def test_a_menu_reads_what_it_offers_and_any_other_word_as_what_it_begins_with(services: Services) -> None:
    on = On(services, Sentence(TEXT, "", "minilm"))
    for said_as, read_as in (
        (("all", "mean", "same", "same"), ("all", "mean", "same", "same")),
        (("same", "<b>", "-1", None), FIRST),
        (("mean", "all", "mean", "all"), FIRST),
        (("9" * 5000, "²", "11", "3"), ("0", "4", "11", "3")),
    ):
        c = VIEW.read(on, dict(zip(MENUS, said_as, strict=False)))
        assert (c.compare_layer, c.compare_head, c.compare_layer_right, c.compare_head_right) == read_as


def test_the_menus_offer_every_layer_and_head_and_their_means() -> None:
    assert layer_choices(2) == [("layer 1", "0"), ("layer 2", "1"), ("mean of all layers", "all")]
    assert head_choices(1) == [("head 1", "0"), ("mean of all heads", "mean")]

"""The part "Train" before a run: what its controls mean, in numbers, words and a program."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from transformers import BertTokenizerFast

from demos.errors import UserError
from demos.page.bar import offer
from demos.page.services import Sentence
from demos.page.tours.checks import is_on_offer
from demos.training.form_values import (
    FROZEN_EMBEDDINGS,
    HUB,
    OWN,
    RECIPE,
    UPLOAD,
    fitting,
    read_dataset,
    read_settings,
    requested_dataset,
    shown_settings,
)
from demos.training.presets import PRESETS, changed, recipe_for
from demos.training.settings import Settings
from tests.lessons.finetune.bare_page import BEGIN, CHOSEN, EMOTION, QUICK, Wired
from tests.one_line import flat


def test_the_recipe_data_and_cost_are_shown_before_a_run(wired: Wired) -> None:
    draw, costs, _ = wired.draws
    shown = draw["show"](Sentence("", "", "tiny"), "quick", *BEGIN, *EMOTION, *CHOSEN)
    assert {wired.parts[name] for name in shown} == set(draw["outputs"])
    names = ("preset_told", "files", "hubs", "earlier_told", "walk", "drawn", "chain", "told", "code")
    told, files, hubs, begins, walk, drawn, chain, data, code = (shown[name] for name in names)
    assert "learning rate 3e-3" in told  # what differs from the preset
    assert (files["visible"], hubs["visible"]) == (False, False)
    assert "After your first run, a menu “Start from” appears here" in begins
    assert "rises to 3e-3 in the first 13 of 126 steps" in drawn  # 2 epochs of 504 / 8, a tenth warm-up
    assert "Sentence vector: the mean" in walk
    assert walk.count("data-lines") == 9  # the code has each step
    assert '"input_task": "classification"' in html.unescape(walk)
    assert "n tokens × 32" in chain
    assert f"{32 * 6 + 6:,} new parameters" in chain
    assert "504 sentences for training, 72 for validation, 144 for the final test" in flat(data)
    assert "max_length = 2, 8, 24" in code
    cost = costs["show"](Sentence("", "", "tiny"), *BEGIN, *EMOTION, *CHOSEN)
    assert "126 steps" in cost
    assert "MB</b> of memory" in cost
    empty = wired.idle["run"]("", "", {}, "", *EMOTION, 0)
    assert json.loads(empty)["baseline"] == pytest.approx(1 / 6, abs=1e-3)


def test_an_upload_is_waited_for_and_then_shown(wired: Wired, upload: str) -> None:
    show = wired.draws[0]["show"]
    waiting = show(Sentence("", "", "tiny"), "quick", *BEGIN, "sentence", UPLOAD, None, None, "", "", 1_500, *CHOSEN)
    assert "Choose a CSV" in waiting["told"]
    assert "text and a label column" in waiting["told"]
    assert (
        wired.draws[1]["show"](Sentence("", "", "tiny"), *BEGIN, "sentence", UPLOAD, None, None, "", "", 1_500, *CHOSEN)
        == ""
    )
    shown = show(Sentence("", "", "tiny"), "quick", *BEGIN, "sentence", UPLOAD, upload, None, "", "", 1_500, *CHOSEN)
    assert shown["files"]["visible"] is True
    assert "films.tsv: 44 sentences for training, 4 for validation, 12 for the final test" in flat(shown["told"])
    unnamed = show(Sentence("", "", "tiny"), "quick", *BEGIN, "pair", HUB, None, None, "", "", 1_500, *CHOSEN)
    assert unnamed["hubs"]["visible"] is True
    assert "Enter the name of a data set" in unnamed["told"]  # nothing is fetched before that
    glue = ("mrpc", "qqp", "mnli", "mnli:validation_mismatched", "qnli", "rte", "wnli")
    assert re.findall(r'data-hub="([^"]+)"', unnamed["told"]) == [f"nyu-mll/glue:{name}" for name in glue]


def test_more_upper_layers_than_the_model_has_are_told_before_the_start(wired: Wired) -> None:
    deep = shown_settings(replace(QUICK, trains="top", top_layers=3))
    told = "The recipe trains the upper 3 layers, but this model has only 2."
    with pytest.raises(UserError, match=told):
        wired.draws[0]["show"](Sentence("", "", "tiny"), "quick", *BEGIN, *EMOTION, *deep)
    assert wired.draws[1]["show"](Sentence("", "", "tiny"), *BEGIN, *EMOTION, *deep) == ""
    begun = wired.begin["run"]("a-reader-who-goes-deep", "")["begun"]
    *_, last = wired.train["run"](begun, "a-reader-who-goes-deep", "", "", "tiny", "model", *EMOTION, *deep)
    assert json.loads(last["curve"])["status"] == told
    fits = shown_settings(replace(QUICK, trains="top", top_layers=2))
    assert "126 steps" in wired.draws[1]["show"](Sentence("", "", "tiny"), *BEGIN, *EMOTION, *fits)


def test_the_data_is_cut_by_the_chosen_models_tokenizer(wired: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    store = wired.page.services.store
    names = ("entities", "entities", None, None, "", "", 1_500)
    asked = (Sentence("", "", "tiny"), "quick", *BEGIN, *names, *CHOSEN)
    assert "[UNK]" not in wired.draws[0]["show"](*asked)["told"]
    keeps_case = BertTokenizerFast(vocab=wired.tiny.tokenizer.get_vocab(), do_lower_case=False)
    monkeypatch.setattr(store, "tokenizer_at_hand", lambda key: {"tiny": keeps_case}[key])
    assert "[UNK]" in wired.draws[0]["show"](*asked)["told"]  # its vocabulary has no capitals
    monkeypatch.setattr(store, "tokenizer_at_hand", lambda key: None)
    lent = wired.draws[0]["show"](*asked)["told"]
    assert "[UNK]" not in lent
    assert "The pieces above come from the bundled model’s tokenizer: Tiny random BERT" in lent
    assert "bundled" not in wired.draws[0]["show"](Sentence("", "", "tiny"), "quick", *BEGIN, *EMOTION, *CHOSEN)["told"]


def test_the_code_is_a_program_whatever_is_chosen(wired: Wired, upload: str) -> None:
    def program(*picked: Any, **fields: Any) -> str:
        chosen = shown_settings(replace(QUICK, **fields))
        code: str = wired.draws[0]["show"](Sentence("", "", "tiny"), "quick", *BEGIN, *picked, *chosen)["code"]
        compile(code, "run.py", "exec")
        return code

    assert "import AutoModel" in program(*EMOTION)  # with the library alone
    for name, line in {"trains": "lora", "optimizer": "sgd"}.items():
        assert {"lora": "LoraConfig", "sgd": "torch.optim.SGD"}[line] in program(*EMOTION, **{name: line})
    own = program("sentence", UPLOAD, upload, None, "", "", 1_500)
    assert "pd.read_csv('films.tsv'" in own
    assert str(Path(upload).parent) not in own


def test_a_link_may_name_a_data_set_of_the_hub_but_only_a_press_fetches_it(wired: Wired) -> None:
    named = wired.page.choices["hub"]
    for drawn in (*wired.draws, wired.idle):  # what a page does by itself
        assert all(one is not named for one in drawn["inputs"])
    assert any(one is named for one in wired.train["inputs"])  # Start is a press too
    asked = next(one for one in wired.draws[0]["inputs"] if getattr(one, "visible", None) == "hidden")
    assert all(one is not asked for one in wired.page.choices.values())


def test_controls_are_read_and_bounded() -> None:
    assert read_settings(*CHOSEN) == QUICK
    at = RECIPE.index("learning_rate")
    for wrong in (None, "x", float("nan"), float("inf"), -1):
        with pytest.raises(UserError):
            read_settings(*CHOSEN[:at], wrong, *CHOSEN[at + 1 :])
    with pytest.raises(UserError, match="Choose a CSV"):
        read_dataset("sentence", UPLOAD, None, None, "", "", 100, 0)
    with pytest.raises(UserError, match="not a number"):
        read_dataset(*EMOTION, None)
    with pytest.raises(UserError, match="another task"):
        read_dataset("pair", *EMOTION[1:], 0)
    kind, told = requested_dataset("emotion", 0)
    assert (kind, told.labels) == ("sentence", read_dataset(*EMOTION, 0).labels)
    assert (fitting("pair", OWN), fitting("pair", UPLOAD), fitting("sentence", OWN)) == ("paraphrase", UPLOAD, OWN)


def test_every_recipe_fills_the_controls_and_says_what_was_changed(wired: Wired) -> None:
    frozen = Settings(hidden=(256, 64), frozen_embeddings=True, class_weights=True)
    assert shown_settings(frozen)[RECIPE.index("trains")] == FROZEN_EMBEDDINGS
    assert read_settings(*shown_settings(frozen)) == frozen
    for key, preset in PRESETS.items():
        filled = wired.fill["run"](key, "sentence", 7)
        settings = read_settings(*filled)
        assert settings == replace(preset.settings, seed=7)
        assert changed(settings, key) == {}  # the seed is no part of a recipe
    paper = PRESETS["cls"].settings
    assert changed(replace(paper, pooling="max", class_weights=True), "cls", "question") == {}  # neither acts there
    assert changed(replace(paper, pooling="max", class_weights=True), "cls", "choice") == {"pooling": "max"}
    assert changed(replace(paper, epochs=2, lora_rank=4), "cls") == {"epochs": 2}  # the rank does nothing there
    assert 2e-5 <= paper.learning_rate <= 5e-5
    assert paper.batch_size in (16, 32)
    assert (paper.pooling, paper.schedule, paper.dropout) == ("cls", "linear", 0.1)
    assert paper.epochs in (3, 4)
    assert (PRESETS["frozen"].settings.trains, PRESETS["quick"].settings) == ("head", Settings())
    for kind in ("entities", "question", "similarity", "labels"):  # longer, or fewer of each
        assert changed(read_settings(*wired.fill["run"]("quick", kind, 0)), "quick", kind) == {}
        assert recipe_for("quick", kind).epochs > Settings().epochs
        assert recipe_for("cls", kind) == paper


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", ["sentence", "labels", "entities", "question", "similarity"])
def test_a_link_without_the_settings_means_the_recipe_of_its_task(wired: Wired, preset: str, kind: str) -> None:
    page, query = wired.page, {"task": kind, "preset": preset}
    named = {component: name for name, component in page.choices.items()}
    of_recipe = [named[wired.parts[name]] for name in RECIPE if name != "seed"]
    left_out = [page.left_out(name, query) for name in of_recipe]
    assert left_out == shown_settings(recipe_for(preset, kind))[:-1]
    for name, value in zip(of_recipe, left_out, strict=True):
        assert is_on_offer(value if isinstance(value, str) else json.dumps(value), offer(name, page.choices[name]))
    assert page.left_out("seed", query) == Settings().seed
    assert page.left_out("rate", {"task": "nonsense"}) == Settings().learning_rate

"""The part "Train" before a run: what its controls mean, in numbers, words and a program."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from transformers import BertTokenizerFast

from demos.errors import UserError
from demos.lessons.finetune.train.choices import SETTINGS, START
from demos.lessons.finetune.train.part import Train
from demos.page.links import read, value_of
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
from tests.lessons.finetune.bare_page import CHOSEN, EMOTION, QUICK, Bare
from tests.one_line import flat


def test_the_recipe_data_and_cost_are_shown_before_a_run(bare: Bare) -> None:
    shown = bare.draw()
    names = ("about", "walk", "rates", "chain", "rows", "program")
    assert set(shown) == set(names)
    about, walk, rates, chain, rows, program = (shown[name] for name in names)
    assert "learning rate 3e-3" in about  # what differs from the preset
    start = bare.draw(method="start")
    assert "After your first run, a menu “Start from” appears here" in start["start"]
    assert start["earlier"]["visible"] is False
    assert "rises to 3e-3 in the first 13 of 126 steps" in rates  # 2 epochs of 504 / 8, a tenth warm-up
    assert "Sentence vector: the mean" in walk
    assert walk.count("data-lines") == 9  # the code has each step
    assert '"input_task": "classification"' in html.unescape(walk)
    assert "n tokens × 32" in chain
    assert f"{32 * 6 + 6:,} new parameters" in chain
    assert "504 sentences for training, 72 for validation, 144 for the final test" in flat(rows)
    assert "max_length = 2, 8, 24" in program
    cost = bare.draw(method="cost")["cost"]
    assert "126 steps" in cost
    assert "MB</b> of memory" in cost
    empty = bare.draw(method="curve")["curve"]
    assert json.loads(empty)["baseline"] == pytest.approx(1 / 6, abs=1e-3)


def test_an_upload_is_waited_for_and_then_shown(bare: Bare, upload: str) -> None:
    awaited = ("sentence", UPLOAD, None, None, "", "", 1_500)
    waiting = bare.draw(awaited)
    assert "Choose a CSV" in waiting["rows"]
    assert "text and a label column" in waiting["rows"]
    assert bare.draw(awaited, method="cost") == {"cost": ""}
    shown = bare.draw(("sentence", UPLOAD, upload, None, "", "", 1_500))
    assert "films.tsv: 44 sentences for training, 4 for validation, 12 for the final test" in flat(shown["rows"])
    unnamed = bare.draw(("pair", HUB, None, None, "", "", 1_500))
    assert "Enter the name of a data set" in unnamed["rows"]  # nothing is fetched before that
    glue = ("mrpc", "qqp", "mnli", "mnli:validation_mismatched", "qnli", "rte", "wnli")
    assert re.findall(r'data-hub="([^"]+)"', unnamed["rows"]) == [f"nyu-mll/glue:{name}" for name in glue]


def test_more_upper_layers_than_the_model_has_are_told_before_the_start(bare: Bare) -> None:
    deep = shown_settings(replace(QUICK, trains="top", top_layers=3))
    told = "The recipe trains the upper 3 layers, but this model has only 2."
    with pytest.raises(UserError, match=told):
        bare.draw(chosen=deep)
    assert bare.draw(chosen=deep, method="cost") == {"cost": ""}
    *_, last = bare.trainer.work("a run", "a-reader-who-goes-deep", "tiny", "model", *EMOTION, *deep)
    assert json.loads(last["curve"])["status"] == told
    fits = shown_settings(replace(QUICK, trains="top", top_layers=2))
    assert "126 steps" in bare.draw(chosen=fits, method="cost")["cost"]


def test_the_data_is_cut_by_the_chosen_models_tokenizer(bare: Bare, monkeypatch: pytest.MonkeyPatch) -> None:
    store = bare.services.store
    names = ("entities", "entities", None, None, "", "", 1_500)
    assert "[UNK]" not in bare.draw(names)["rows"]
    keeps_case = BertTokenizerFast(vocab=bare.tiny.tokenizer.get_vocab(), do_lower_case=False)
    monkeypatch.setattr(store, "tokenizer_at_hand", lambda key: {"tiny": keeps_case}[key])
    assert "[UNK]" in bare.draw(names)["rows"]  # its vocabulary has no capitals
    monkeypatch.setattr(store, "tokenizer_at_hand", lambda key: None)
    lent = bare.draw(names)["rows"]
    assert "[UNK]" not in lent
    assert "The pieces above come from the bundled model’s tokenizer: Tiny random BERT" in lent
    assert "bundled" not in bare.draw()["rows"]


def test_the_code_is_a_program_whatever_is_chosen(bare: Bare, upload: str) -> None:
    def program(*picked: Any, **fields: Any) -> str:
        code: str = bare.draw(picked or EMOTION, shown_settings(replace(QUICK, **fields)))["program"]
        compile(code, "run.py", "exec")
        return code

    assert "import AutoModel" in program()  # with the library alone
    for name, line in {"trains": "lora", "optimizer": "sgd"}.items():
        assert {"lora": "LoraConfig", "sgd": "torch.optim.SGD"}[line] in program(**{name: line})
    own = program("sentence", UPLOAD, upload, None, "", "", 1_500)
    assert "pd.read_csv('films.tsv'" in own
    assert str(Path(upload).parent) not in own


def test_a_link_may_name_a_data_set_of_the_hub_but_only_a_press_fetches_it(bare: Bare) -> None:
    drawings = Train().drawings()
    assert all("hub" not in drawing.by for drawing in drawings)  # what a page does by itself
    assert any("hub_asked" in drawing.by for drawing in drawings)
    assert "hub" in START  # Start is a press too
    assert "hub" in bare.page.choices
    assert "hub_asked" not in bare.page.choices


def test_of_other_data_the_last_runs_curve_stays_and_another_runs_is_left_alone(bare: Bare) -> None:
    assert bare.draw(method="curve", run="a run") == {}  # the run under way keeps its own
    assert "score" in bare.draw(("sentence", HUB, None, None, "", "", 1_500), method="curve")["curve"]


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


def test_every_recipe_fills_the_controls_and_says_what_was_changed() -> None:
    frozen = Settings(hidden=(256, 64), frozen_embeddings=True, class_weights=True)
    assert shown_settings(frozen)[RECIPE.index("trains")] == FROZEN_EMBEDDINGS
    assert read_settings(*shown_settings(frozen)) == frozen
    for key, preset in PRESETS.items():
        settings = read_settings(*shown_settings(recipe_for(key, "sentence"))[:-1], 7)
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
        assert changed(recipe_for("quick", kind), "quick", kind) == {}
        assert recipe_for("quick", kind).epochs > Settings().epochs
        assert recipe_for("cls", kind) == paper


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", ["sentence", "labels", "entities", "question", "similarity"])
def test_a_link_without_the_settings_means_the_recipe_of_its_task(bare: Bare, preset: str, kind: str) -> None:
    offers = bare.page.schema()
    values = read({"task": kind, "preset": preset}, offers)
    of_recipe = {SETTINGS[name]: values[SETTINGS[name]] for name in RECIPE if name != "seed"}
    assert [*of_recipe.values()] == shown_settings(recipe_for(preset, kind))[:-1]
    for name, value in of_recipe.items():
        assert value_of(value if isinstance(value, str) else json.dumps(value), offers[name]) == value
    assert values["seed"] == Settings().seed
    assert read({"task": "nonsense"}, offers)["rate"] == Settings().learning_rate

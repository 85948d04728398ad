"""One recipe, three ways: the page's trainings, the program and the command give the same numbers, digit for digit."""

import ast
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demos.bert.model import models
from demos.bert.model.catalogue import CATALOGUE
from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.training import __main__ as command
from demos.training.__main__ import main, parser, recipe_from
from demos.training.events import Epoch, Finished, Started, Stopped
from demos.training.export.recipe_file import Recipe, read_recipe, recipe_json
from demos.training.export.run_log import keep_log, log_of, read_log
from demos.training.export.script import command_of, repeated, script_of
from demos.training.learning.model import Trained
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings

WORDS = ("river", "stone", "paper", "window", "north")
QUICK = Settings(epochs=1, batch_size=8, max_length=12, threads=1, evaluations=1, hidden=(8,))


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file of two classes."""
    path = tmp_path_factory.mktemp("films") / "it's films.tsv"
    rows = (f"a {('dull', 'fine')[k % 2]} film, {WORDS[k % 5]} {k}\t{('no', 'yes')[k % 2]}\n" for k in range(60))
    path.write_text("text\tlabel\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def at_hand(tiny: LoadedModel, base: Path, monkeypatch: pytest.MonkeyPatch) -> ModelStore:
    """A store with the tiny model as its only one, for program and command."""

    class Store(ModelStore):
        def __init__(self, catalogue: Any = None, any_model: bool = False) -> None:
            super().__init__({"tiny": tiny.spec})

        def folder(self, key: str) -> Path:
            self.spec(key)
            return base

    monkeypatch.setitem(CATALOGUE, "tiny", tiny.spec)  # type: ignore[arg-type]
    monkeypatch.setattr(models, "ModelStore", Store)
    monkeypatch.setattr(command, "ModelStore", Store)
    return Store()


@pytest.mark.slow
def test_page_program_and_command_give_the_same_numbers(
    at_hand: ModelStore, films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    recipe = Recipe(model="tiny", data="file", file=str(films), settings=QUICK)
    trainings, dataset = TrainingService(), recipe.dataset()
    run = trainings.runs.new()
    events = list(trainings.fine_tune(run, dataset, "tiny", at_hand.folder("tiny"), QUICK))
    page = events[-1]
    assert isinstance(page, Finished)
    started = next(event for event in events if isinstance(event, Started))
    looks = [
        (one.step, one.train_loss, one.validation_loss, one.validation_score)
        for one in events
        if isinstance(one, Epoch)
    ]
    log = log_of(recipe, at_hand.spec("tiny"), dataset, started, looks, page.result)

    monkeypatch.chdir(films.parent)  # the program names the file, it does not hold it
    again = repeated(log)
    assert again.file == films.name
    assert again.settings.threads == started.threads
    told: dict[str, Any] = {}
    exec(compile(script_of(again, log, out=str(tmp_path / "program")), "run.py", "exec"), told)
    assert told["metrics"] == page.result.metrics
    assert told["event"].result.loss == page.result.loss
    assert told["event"].result.answers == page.result.answers  # every test sentence's probabilities, to the last digit
    printed = capsys.readouterr().out
    assert f"validation loss {looks[-1][2]:.4f}" in printed

    recipe_file = tmp_path / "recipe.json"
    recipe_file.write_text(recipe_json(again), encoding="utf-8")
    assert main(["--recipe", str(recipe_file), "--json", "--out", str(tmp_path / "command")]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[-1]["event"] == "finished"
    assert lines[-1]["result"]["metrics"] == page.result.metrics
    assert lines[-1]["result"]["loss"] == page.result.loss
    steps = [(line["loss"], line["gradient_norm"]) for line in lines if line["event"] == "step"]
    assert steps == [(one.loss, one.gradient_norm) for one in events if hasattr(one, "gradient_norm")]

    names = {path.name for path in (tmp_path / "command").iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "README.md", "recipe.json", "run.py"} <= names
    assert read_recipe((tmp_path / "command" / "recipe.json").read_text(encoding="utf-8")) == again
    assert (tmp_path / "program" / "model.safetensors").is_file()
    assert main(["--recipe", str(recipe_file), "--out", str(tmp_path / "command")]) == 2
    assert "is there already" in capsys.readouterr().err
    assert Trained.read(page.result.folder).task.hidden == (8,)  # type: ignore[attr-defined]
    keep_log(tmp_path / "log", log)
    assert read_log(tmp_path / "log") == log
    stopped = replace(log, stopped="asked", steps=2)
    again = repeated(stopped)
    exec(compile(script_of(again, stopped, out=str(tmp_path / "stopped")), "run.py", "exec"), told)
    assert isinstance(told["event"], Stopped)
    assert told["event"].result.steps == 2
    capsys.readouterr()
    assert main([*shlex.split(command_of(again))[3:], "--json", "--out", str(tmp_path / "too")]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["event"], last["reason"]) == ("stopped", "asked")
    assert last["result"]["steps"] == 2
    assert last["result"]["metrics"] == told["metrics"]
    assert repeated(replace(log, seconds=590.0)).settings.max_seconds > again.settings.max_seconds == 600
    assert read_log(tmp_path / "nowhere") is None
    assert str(films.parent) not in (tmp_path / "log" / "log.json").read_text(
        encoding="utf-8"
    )  # a server's path is nobody's business


def test_the_program_that_is_shown_before_a_run_gives_what_the_run_then_gives(
    at_hand: ModelStore, tmp_path: Path
) -> None:
    settings = Settings(epochs=1, batch_size=16, max_length=24, evaluations=1, trains="lora", class_weights=True)
    recipe = Recipe(model="tiny", task="entities", data="entities", max_train=32, settings=settings)
    told: dict[str, Any] = {}
    exec(compile(script_of(recipe, out=str(tmp_path / "program")), "run.py", "exec"), told)
    trainings = TrainingService()
    *_, page = trainings.fine_tune(trainings.runs.new(), recipe.dataset(), "tiny", at_hand.folder("tiny"), settings)
    assert isinstance(page, Finished)
    assert told["event"].result.steps == 2
    assert told["metrics"] == page.result.metrics
    assert told["event"].result.loss == page.result.loss
    assert (tmp_path / "program" / "model.safetensors").is_file()


@pytest.mark.parametrize(
    "name", ['"""\nimport os', "a'b.tsv", "$(rm x).tsv", "{}", "\\", "x\n--set seed=1", "hub`id`", "é 好.tsv"]
)
def test_a_persons_text_stays_a_text_in_program_and_command(name: str) -> None:
    recipe = Recipe(data="file", file=name, test_file=name, settings=Settings(hidden=(64, 8), seed=3))
    tree = ast.parse(script_of(recipe))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == name]
    assert texts == [name, name]
    words = shlex.split(command_of(recipe))
    assert words[:3] == ["python", "-m", "demos.training"]
    assert recipe_from(parser().parse_args(words[3:])) == recipe


def test_a_bundled_set_and_one_of_the_hub_are_named_in_the_program() -> None:
    assert "SOURCES['endings'].load(settings.seed, 100)" in script_of(
        Recipe(data="endings", task="choice", max_train=100)
    )
    hub = Recipe(data="hub", hub="owner/name:config", task="pair")
    assert "load_hub('pair', 'owner/name:config', settings.seed, " in script_of(hub)
    assert recipe_from(parser().parse_args(shlex.split(command_of(hub))[3:])) == hub


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "larger|not JSON"),
        ("[]", "JSON object"),
        ('{"settings": []}', "JSON object"),
        ('{"speed": 1}', "no field 'speed'"),
        ('{"settings": {"epoch": 1}}', "no field 'epoch'"),
        ('{"settings": {"epochs": 1000}}', "epochs"),
        ('{"settings": {"epochs": null}}', "epochs"),
        ('{"settings": {"hidden": 3}}', "list of widths"),
        ('{"settings": {"hidden": ["a"]}}', "width"),
        ('{"settings": {"class_weights": 1}}', "true or false"),
        ('{"settings": {"learning_rate": NaN}}', "learning rate"),
        ('{"file": 3}', "file must be text"),
        ('{"max_train": 1e9}', "max_train"),
        ('{"model": "' + "x" * 200 + '"}', "at most 140"),
    ],
)
def test_a_broken_recipe_is_told_in_one_sentence(told: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        read_recipe(told)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 600


def test_an_earlier_recipe_is_read_where_it_asks_for_what_every_run_does() -> None:
    former = {"activation": "tanh", "layer_decay": 1, "label_smoothing": 0.0, "epochs": 2}
    for precision in ("auto", "float32"):  # which tests compute in
        assert read_recipe(json.dumps({"settings": former | {"precision": precision}})).settings == Settings(epochs=2)
    other = {"activation": "relu", "layer_decay": 0.9, "label_smoothing": 0.1, "precision": "bfloat16"}
    for name, value in other.items():
        told = f"^The recipe's {name} can no longer be '{value}'; its value here is .+\\.$"
        with pytest.raises(UserError, match=told):
            read_recipe(json.dumps({"settings": former | {name: value}}))


def test_a_recipe_names_no_file_or_data_set_that_it_does_not_use() -> None:
    full = Recipe(file="/srv/a/salaries.csv", test_file="/srv/a/b.csv", hub="me/private")
    told = recipe_json(full.named())
    assert not [name for name in ("salaries", "b.csv", "private", "srv") if name in told]
    assert replace(full, data="file").named() == Recipe(data="file", file="salaries.csv", test_file="b.csv")
    assert replace(full, data="hub").named() == Recipe(data="hub", hub="me/private")


def test_a_model_of_ones_own_catalogue_is_asked_of_that(tmp_path: Path) -> None:
    recipe = Recipe(model="my-german-bert")
    assert shlex.split(command_of(recipe))[3:7] == ["--catalogue", "catalogue.json", "--model", "my-german-bert"]
    tree = ast.parse(script_of(recipe))
    assert "read_catalogue(Path('catalogue.json'))" in ast.unparse(tree)
    assert "catalogue" not in script_of(Recipe(model="minilm")) + command_of(Recipe(model="minilm"))


def test_the_command_trains_on_more_than_the_page_does(tmp_path: Path) -> None:
    rows = "".join(f"{('dull', 'fine')[k % 2]} number {k}\t{('no', 'yes')[k % 2]}\n" for k in range(2_400))
    (tmp_path / "many.tsv").write_text("text\tlabel\n" + rows, encoding="utf-8")
    many = Recipe(data="file", file=str(tmp_path / "many.tsv"), max_train=1_600)
    assert len(many.dataset().train) == 1_600
    assert read_recipe(recipe_json(many)) == many


def test_a_recipe_comes_back_from_its_file() -> None:
    recipe = Recipe(
        "minilm", "pair", "hub", hub="a/b", max_train=99, settings=Settings(hidden=(3, 4), class_weights=True)
    )
    assert read_recipe(recipe_json(recipe)) == recipe


def test_a_model_by_its_name_is_repeated_at_its_revision() -> None:
    recipe = Recipe(model=f"someone/bert@{'c' * 40}", settings=QUICK)
    assert f"--any-model --model someone/bert@{'c' * 40}" in command_of(recipe)
    program = script_of(recipe)
    compile(program, "run.py", "exec")
    assert "ModelStore(any_model=True)" in program
    assert f"store.folder(store.find('someone/bert@{'c' * 40}').key)" in program
    assert "extend_catalogue" not in program
    assert read_recipe(recipe_json(recipe)) == recipe

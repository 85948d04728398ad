"""`python -m demos.training`: its options, its sentences, its seeds."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from demos.bert.model.models import LoadedModel, ModelStore
from demos.training import __main__ as command
from demos.training.results.learned_nothing import LearnedNothing
from demos.training.settings import Settings
from tests.training.data.shapes import SHAPES

FILMS = "".join(f"a {('dull', 'fine')[k % 2]} film number {k}\t{('no', 'yes')[k % 2]}\n" for k in range(40))
SMALL = ["--set", "epochs=1", "--set", "max_length=12", "--set", "threads=1", "--set", "evaluations=1"]


@pytest.fixture
def at_hand(tiny: LoadedModel, base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The command with the tiny model as its only one, and a file to train on."""

    class Store(ModelStore):
        def __init__(self, catalogue: Any, any_model: bool = False) -> None:
            super().__init__({"tiny": tiny.spec})

        def folder(self, key: str) -> Path:
            self.spec(key)
            return base

    monkeypatch.setattr(command, "ModelStore", Store)
    path = tmp_path / "films.tsv"
    path.write_text(FILMS, encoding="utf-8")
    return path


def test_each_seed_is_a_run_of_its_own_and_the_mean_follows(at_hand: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    told = ["--model", "tiny", "--data", str(at_hand), "--seeds", "0,3", "--out", str(out), *SMALL]
    assert command.main(told) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["seed 0", "seed 3", "mean of 2 seeds"]
    scores = [float(line.split("accuracy ")[1].split(",")[0]) for line in lines]
    assert scores[2] == pytest.approx(sum(scores[:2]) / 2, abs=1e-4)
    assert {path.name for path in out.iterdir()} == {"seed-0", "seed-3"}
    assert (out / "seed-3" / "README.md").read_text(encoding="utf-8").startswith("---\n")


@pytest.mark.parametrize("case", ["stars", "marks from 1 to 10, some missing"])
def test_a_rating_of_single_texts_is_trained_as_a_score(at_hand: Path, tmp_path: Path, capsys: Any, case: str) -> None:
    path, columns = tmp_path / SHAPES[case].name, SHAPES[case].columns
    path.write_bytes(SHAPES[case].held)
    chosen = f"text={columns['text']},label={columns['label']}"  # as for classes
    told = ["--task", "similarity", "--data", str(path), "--columns", chosen, "--out", str(tmp_path / "out"), *SMALL]
    assert command.main(["--model", "tiny", *told, "--set", "max_steps=4"]) == 0
    printed = capsys.readouterr().out
    assert "Spearman's ρ" in printed
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert f"gives a text a score, from 1 to {len(SHAPES[case].labels)}." in card


@pytest.mark.parametrize("as_json", [False, True])
def test_a_run_that_has_learned_nothing_says_so_in_one_line(
    at_hand: Path, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    nothing = LearnedNothing("All are <b>“no”</b>.", ("the rate is high",), (("choose a lower", "learning_rate"),))
    sentence = (
        f"{nothing.evidence} The likeliest reason is that the rate is high. With --set, choose a lower learning_rate."
    )
    runs: list[Any] = []

    def judge(*of_run: Any) -> LearnedNothing | None:
        runs.append(of_run)
        return nothing if len(runs) == 1 else None

    monkeypatch.setattr(command, "learned_nothing", judge)
    told = ["--model", "tiny", "--data", str(at_hand), "--seeds", "0,3", "--out", str(tmp_path / "out"), *SMALL]
    assert command.main([*told, *["--json"] * as_json]) == 0
    printed = capsys.readouterr()
    lines = [line.split("\r")[-1] for line in printed.err.splitlines()]
    assert [line for line in lines if "likeliest" in line] == [f"seed 0: {sentence}"]
    if as_json:
        ended = [event for event in map(json.loads, printed.out.splitlines()) if event["event"] == "finished"]
        assert [event.get("learned_nothing") for event in ended] == [sentence, None]
    for _, settings, started, result, losses, looks in runs:
        assert len(losses) == result.steps == started.total_steps
        assert [look[0] for look in looks] == [0, result.steps]
        card = (tmp_path / "out" / f"seed-{settings.seed}" / "README.md").read_text(encoding="utf-8")
        assert ("All are &lt;b>“no”&lt;/b>." in card) is (settings.seed == 0)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (["--data", "nothing.tsv"], "no file 'nothing.tsv'"),
        (["--data", "emotion", "--task", "pair"], "another task"),
        (["--model", "gpt"], "no model 'gpt'"),
        (["--recipe", "nowhere.json"], "can't be read"),
        (["--set", "epochs"], "NAME=VALUE"),
        (["--set", "colour=red"], "NAME=VALUE"),
        (["--set", "epochs=many"], "epochs can't be 'many'"),
        (["--set", "class_weights=perhaps"], "class_weights"),
        (["--set", "epochs=99"], "epochs must be"),
        (["--max-train", "30000"], "max_train must be a whole number from 10 to 20,000"),
        (["--max-train", "3"], "max_train must be"),
        (["--seeds", "0,x"], "whole numbers"),
        (["--seeds", "-1"], "seed must be"),
    ],
)
def test_what_is_wrong_is_one_sentence(at_hand: Path, capsys: Any, told: list[str], words: str) -> None:
    assert command.main(["--model", "tiny", *told]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert words in said[0]


def test_options_change_the_settings_they_name() -> None:
    told = ["--data", "endings", "--set", "hidden=64,8", "--set", "class_weights=true", "--set", "learning_rate=2e-5"]
    recipe = command.recipe_from(command.parser().parse_args(told))
    assert (recipe.data, recipe.task) == ("endings", "choice")
    assert recipe.settings == Settings(hidden=(64, 8), class_weights=True, learning_rate=2e-5)


def test_help_names_every_option() -> None:
    told = command.parser().format_help()
    for option in ("--recipe", "--data", "--set", "--seeds", "--out", "--json", "accelerate launch"):
        assert option in told


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")  # other tests imported it
def test_it_starts_as_a_module(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["training", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("demos.training", run_name="__main__")
    assert ended.value.code == 0
    assert "--recipe" in capsys.readouterr().out

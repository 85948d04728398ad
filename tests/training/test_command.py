"""`python -m demos.training`: its options, its sentences, its seeds; and the push to a hub that is not one."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from huggingface_hub.errors import HfHubHTTPError

from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.training import __main__ as command
from demos.training.export.hub_push import BROKE_OFF, LEFT, UNREACHED, WHY, push
from demos.training.settings import Settings

FILMS = "".join(f"a {('dull', 'fine')[k % 2]} film number {k}\t{('no', 'yes')[k % 2]}\n" for k in range(40))
SMALL = ["--set", "epochs=1", "--set", "max_length=12", "--set", "threads=1", "--set", "evaluations=1"]


@pytest.fixture
def at_hand(tiny: LoadedModel, base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The command with the tiny model as its only one, and a file to train on."""

    class Store(ModelStore):
        def __init__(self, catalogue: Any) -> None:
            super().__init__({"tiny": tiny.spec})

        def folder(self, key: str) -> Path:
            self.spec(key)
            return base

    monkeypatch.setattr(command, "ModelStore", Store)
    path = tmp_path / "films.tsv"
    path.write_text(FILMS)
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
    assert (out / "seed-3" / "README.md").read_text().startswith("---\n")


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


class FakeHub:
    """What `push` asks of HfApi, written down."""

    def __init__(self, fails: int | None = None, breaks: tuple[str, ...] = ()) -> None:
        self.fails, self.breaks = fails, breaks
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, token: str) -> FakeHub:
        self.calls.append(("token", {"token": token}))
        return self

    def _reach(self, what: str) -> None:
        if what in self.breaks:
            raise RuntimeError(f"Bearer secret at {what}")  # of the Hub's client, whose kinds are its own

    def create_repo(self, **told: Any) -> Any:
        self._reach("create_repo")
        if self.fails is not None:
            request = httpx.Request("POST", "https://hub.invalid", headers={"authorization": "Bearer secret"})
            raise HfHubHTTPError("secret", response=httpx.Response(self.fails, request=request))
        self.calls.append(("create_repo", told))
        return SimpleNamespace(repo_id=f"ada/{told['repo_id']}", url=f"https://hub.invalid/ada/{told['repo_id']}")

    def upload_folder(self, **told: Any) -> None:
        self._reach("upload_folder")
        self.calls.append(("upload_folder", told))

    def delete_repo(self, **told: Any) -> None:
        self._reach("delete_repo")
        self.calls.append(("delete_repo", told))


def test_a_push_makes_a_private_repository_and_never_overwrites(tmp_path: Path) -> None:
    hub = FakeHub()
    assert push(tmp_path, " my-model ", "secret", make=hub) == "https://hub.invalid/ada/my-model"
    made, sent = hub.calls[1][1], hub.calls[2][1]
    assert (made["repo_id"], made["private"], made["exist_ok"]) == ("my-model", True, False)
    assert (sent["repo_id"], sent["folder_path"]) == ("ada/my-model", str(tmp_path))


@pytest.mark.parametrize(
    "name", ["", " ", "a/b", "../x", "a--b", "a..b", "-a", "a-", "é", "x" * 61, "a b", "a\nb", "a.git", "$(x)", None]
)
def test_a_name_that_the_hub_refuses_is_refused_here(tmp_path: Path, name: Any) -> None:
    hub = FakeHub()
    with pytest.raises(UserError, match="Name the model"):
        push(tmp_path, name, "secret", make=hub)
    assert not hub.calls


@pytest.mark.parametrize("status", [*WHY, 500])
def test_the_hubs_refusal_is_a_sentence_without_the_token(tmp_path: Path, status: int) -> None:
    with pytest.raises(UserError) as caught:
        push(tmp_path, "my-model", "secret", make=FakeHub(status))
    assert "secret" not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("breaks", "told", "deleted"),
    [
        (("create_repo",), UNREACHED, False),
        (("upload_folder",), BROKE_OFF, True),
        (("upload_folder", "delete_repo"), LEFT, False),
    ],
)
def test_a_push_that_breaks_off_says_what_is_left(
    tmp_path: Path, breaks: tuple[str, ...], told: str, deleted: bool
) -> None:
    hub = FakeHub(breaks=breaks)
    with pytest.raises(UserError) as caught:
        push(tmp_path, "my-model", "secret", make=hub)
    assert str(caught.value) == told
    assert caught.value.__suppress_context__
    assert (("delete_repo", {"repo_id": "ada/my-model", "repo_type": "model"}) in hub.calls) == deleted


def test_without_a_sign_in_nothing_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Sign in"):
        push(tmp_path, "my-model", None, make=FakeHub())


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")  # other tests imported it
def test_it_starts_as_a_module(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["training", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("demos.training", run_name="__main__")
    assert ended.value.code == 0
    assert "--recipe" in capsys.readouterr().out

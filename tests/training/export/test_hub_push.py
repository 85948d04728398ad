"""The push through the Hub's own client, to a hub on this machine: what it makes, never touches, and is refused."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

from demos.errors import UserError
from demos.training.export import hub_push
from demos.training.export.hub_push import BROKE_OFF, FULL, LEFT, TAKEN, UNREACHED, WHY, check_new, push, repository_of
from tests.bert.model.local_hub import in_its_place
from tests.training.export.account_hub import AccountHub

ANN = "ann's token"
CREATE, COMMIT, DELETE = "POST /api/repos/create", "/commit/main", "DELETE /api/repos/delete"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[AccountHub]]:
    AccountHub.begin()
    with in_its_place(AccountHub, monkeypatch, tmp_path / "cache"):
        yield AccountHub


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    (made / "README.md").write_text("a model", encoding="utf-8")
    (made / "config.json").write_text("{}", encoding="utf-8")
    return made


def refused(folder: Path, repository: str = "ann/my-model", token: str = ANN) -> str:
    with pytest.raises(UserError) as caught:
        push(folder, repository, token)
    assert "token" not in f"{caught.value!r}"
    assert caught.value.__suppress_context__  # whose request holds it
    return str(caught.value)


@pytest.mark.parametrize("private", [True, False])
def test_a_push_makes_the_repository_that_was_named(hub: type[AccountHub], folder: Path, private: bool) -> None:
    check_new("ann/my-model", ANN)
    address = push(folder, "ann/my-model", ANN, private)
    assert address.endswith("/ann/my-model")
    assert hub.made == {"ann/my-model": {"private": private, "files": ["README.md", "config.json"]}}


def test_one_that_is_there_is_told_and_never_written_to(hub: type[AccountHub], folder: Path) -> None:
    hub.made["ann/my-model"] = {"private": False, "files": ["hers"]}
    with pytest.raises(UserError, match="already"):
        check_new("ann/my-model", ANN)
    assert refused(folder) == TAKEN
    assert hub.made == {"ann/my-model": {"private": False, "files": ["hers"]}}


def test_no_other_account_is_written_to(hub: type[AccountHub], folder: Path) -> None:
    assert refused(folder, "bob/my-model") == WHY[403]
    assert hub.made == {}


@pytest.mark.parametrize(
    "name", ["", " ", "a/b", "../x", "a--b", "a..b", "-a", "a-", "é", "x" * 61, "a b", "a\nb", "a.git", "$(x)", None]
)
def test_a_name_that_the_hub_refuses_is_refused_here(name: Any) -> None:
    with pytest.raises(UserError, match="Name the model"):
        repository_of("ann", name)
    assert repository_of("ann", " my-model ") == "ann/my-model"


def test_a_sign_in_that_is_over_is_told(hub: type[AccountHub], folder: Path) -> None:
    assert refused(folder, token="an old token") == WHY[401]
    with pytest.raises(UserError, match="sign in again"):
        check_new("ann/my-model", "an old token")


@pytest.mark.parametrize(
    ("status", "why", "told"),
    [
        (403, "Insufficient permissions", WHY[403]),
        (403, "Private repository storage limit reached, please upgrade your plan", FULL),
        (402, "", FULL),
        (413, "", WHY[413]),
    ],
)
def test_the_hubs_refusal_is_a_sentence(hub: type[AccountHub], folder: Path, status: int, why: str, told: str) -> None:
    hub.refuses[CREATE] = status, why
    assert refused(folder) == told
    hub.refuses = {COMMIT: (status, why)}
    assert refused(folder) == told
    assert hub.made == {}  # what it had begun is gone again


def test_a_push_that_breaks_off_says_what_is_left(hub: type[AccountHub], folder: Path) -> None:
    hub.refuses[COMMIT] = 400, ""
    assert refused(folder) == BROKE_OFF
    assert hub.made == {}
    hub.refuses[DELETE] = 400, ""
    assert refused(folder) == LEFT
    assert hub.made["ann/my-model"]["files"] == []


def test_a_hub_that_is_away_or_hangs_is_told(
    hub: type[AccountHub], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr(hub_push, "ASK_SECONDS", 0.3)
    monkeypatch.setattr(hub, "_refused", lambda self: over.wait(60))
    for asked in (lambda: push(folder, "ann/my-model", ANN), lambda: check_new("ann/my-model", ANN)):
        with pytest.raises(UserError, match=UNREACHED):
            asked()
    over.set()
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(hub_push, "ASK_SECONDS", 30)
    assert refused(folder) == UNREACHED

"""The push to the reader's account: who may publish a run, what the question names, when it is too late."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from gradio.context import LocalContext
from gradio.helpers import special_args

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.finetune import LESSON
from demos.lessons.finetune.export import hub
from demos.lessons.finetune.export import part as export
from demos.lessons.finetune.train.controller import Trainer
from demos.page.lesson import Page
from demos.page.services import Services
from demos.page.visitor import visitor
from demos.training.export.publisher import ANOTHERS, OTHER_ACCOUNT, Publisher
from demos.training.form_values import shown_settings
from demos.training.service.runs import Runs
from demos.training.service.stored_runs import StoredRuns
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings
from tests.bert.model.local_hub import in_its_place
from tests.lessons.finetune.bare_page import TSV
from tests.lessons.finetune.whole_run import whole_run
from tests.one_line import flat
from tests.page.tiny_store import TinyStore
from tests.training.export.account_hub import AccountHub

CHOSEN = shown_settings(Settings(epochs=1, learning_rate=3e-3, batch_size=16, max_length=24))
ANN, BOB = Publisher("ann's browser", "ann"), Publisher("bob's browser", "bob")
ANNS_TOKEN, BOBS_TOKEN = "ann's token", "bob's token"


@pytest.fixture
def account_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[AccountHub]]:
    AccountHub.begin()
    with in_its_place(AccountHub, monkeypatch, tmp_path / "cache"):
        yield AccountHub


def request_of(publisher: Publisher) -> Any:
    """What gradio hands on of a request whose cookie says this."""
    signed_in = {"userinfo": {"preferred_username": publisher.account}, "access_token": f"{publisher.account}'s token"}
    session = {"browser": publisher.browser} | ({"oauth_info": signed_in} if publisher.account else {})
    return SimpleNamespace(request=SimpleNamespace(scope={"session": session}))


@pytest.fixture
def trained(tiny: LoadedModel, tmp_path: Path) -> Any:
    """trained(ANN) is (what publishes, the id of a run that she has begun)."""
    upload = tmp_path / "films.tsv"
    upload.write_text(TSV, encoding="utf-8")
    trainings = TrainingService(StoredRuns(tmp_path / "runs"))
    services = Services(TinyStore.written(tiny, tmp_path / "tiny"), "tiny", trainings=trainings)

    def train(publisher: Publisher) -> tuple[hub.Publishing, str]:
        asked = LocalContext.request.set(request_of(publisher))
        try:
            *_, last = whole_run(Trainer(services), ("sentence", "file", str(upload), None, "", "", 1_500), CHOSEN)
        finally:
            LocalContext.request.reset(asked)
        return hub.Publishing(trainings.runs, partial(export.taken, services)), last["kept"]

    return train


def test_a_run_is_published_as_the_question_says(trained: Any, account_hub: type[AccountHub], tmp_path: Path) -> None:
    publishing, run = trained(Publisher(ANN.browser))  # who signs in after the run
    asked = publishing.ask(run, "my-bert", "private", ANN, ANNS_TOKEN)
    words = flat(hub.TEXT.question(asked, 5))
    assert "Publish <code>ann/my-bert</code> as a <b>private</b> model of the account <b>ann</b>?" in words
    assert account_hub.made == {}
    assert "token" not in f"{asked}"
    told = publishing.publish(asked, ANN, ANNS_TOKEN)
    assert "/ann/my-bert" in told
    assert account_hub.made["ann/my-bert"]["private"] is True
    assert {"README.md", "config.json", "model.safetensors"} <= set(account_hub.made["ann/my-bert"]["files"])
    assert "publisher.json" not in account_hub.made["ann/my-bert"]["files"]

    public = publishing.ask(run, "shared", "public", ANN, ANNS_TOKEN)
    assert "as a <b>public</b> model" in flat(hub.TEXT.question(public, 5))
    with pytest.raises(UserError, match="already"):
        publishing.ask(run, "my-bert", "public", ANN, ANNS_TOKEN)

    again = hub.Publishing(Runs(stored=StoredRuns(tmp_path / "runs")), publishing.taken)  # after a restart
    assert again.ask(run, "later", "private", ANN, ANNS_TOKEN).repository == "ann/later"


def test_nobody_publishes_what_another_browser_or_account_trained(trained: Any, account_hub: type[AccountHub]) -> None:
    publishing, run = trained(BOB)
    for other in (ANN, Publisher("", "ann")):
        with pytest.raises(UserError, match=ANOTHERS):
            publishing.ask(run, "my-bert", "public", other, ANNS_TOKEN)
        forged = hub.Question(run, "ann/my-bert", False, "ann", float("inf"))
        with pytest.raises(UserError, match=ANOTHERS):
            publishing.publish(forged, other, ANNS_TOKEN)
    with pytest.raises(UserError, match=OTHER_ACCOUNT):
        publishing.ask(run, "my-bert", "public", replace(BOB, account="ann"), ANNS_TOKEN)
    asked = publishing.ask(run, "my-bert", "public", BOB, BOBS_TOKEN)
    with pytest.raises(UserError, match="Sign in"):  # another account in the meantime
        publishing.publish(asked, replace(BOB, account="ann"), ANNS_TOKEN)
    assert account_hub.made == {}


def test_without_a_cookie_or_a_sign_in_nothing_is_published(trained: Any, account_hub: type[AccountHub]) -> None:
    publishing, run = trained(Publisher())
    with pytest.raises(UserError, match=ANOTHERS):
        publishing.ask(run, "my-bert", "private", Publisher("", "ann"), ANNS_TOKEN)
    for asks, token in ((Publisher(ANN.browser), None), (ANN, None), (Publisher(ANN.browser), ANNS_TOKEN)):
        with pytest.raises(UserError, match="Sign in"):
            publishing.ask(run, "my-bert", "private", asks, token)
    assert account_hub.asked == []


def test_a_question_can_be_answered_for_some_minutes(
    trained: Any, account_hub: type[AccountHub], monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing, run = trained(ANN)
    asked = publishing.ask(run, "my-bert", "private", ANN, ANNS_TOKEN)
    monkeypatch.setattr(hub.time, "monotonic", lambda: asked.until + 1)
    with pytest.raises(UserError, match="longer than 5 minutes"):
        publishing.publish(asked, ANN, ANNS_TOKEN)
    with pytest.raises(UserError, match="nothing to confirm"):
        publishing.publish(None, ANN, ANNS_TOKEN)
    assert account_hub.made == {}


def test_only_a_space_with_sign_in_offers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPACE_ID", raising=False)
    monkeypatch.setenv("OAUTH_CLIENT_ID", "client")
    assert not hub.signs_in()
    monkeypatch.setenv("SPACE_ID", "ada/bert")
    monkeypatch.setattr(hub, "find_spec", lambda name: None)
    assert not hub.signs_in()
    monkeypatch.setattr(hub, "find_spec", lambda name: name)
    assert hub.signs_in()


def test_gradio_fills_in_the_token_of_who_signed_in(
    tiny: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "signs_in", lambda: True)
    monkeypatch.setattr("gradio.routes.attach_oauth", lambda app: None)  # a Space's own part
    with gr.Blocks() as demo:
        box = gr.Textbox
        services = Services(TinyStore(tiny, tmp_path), "tiny")
        page = Page(LESSON, services, box(), box(), box(), box(), box(), gr.Column(), trained=gr.State(""))
        export.Export().build(page)
    ask = next(one.fn for one in demo.fns.values() if getattr(one.fn, "__name__", "") == "ask")
    assert any(isinstance(block, gr.LoginButton) for block in demo.blocks.values())
    given = ["", [], None, "my-model", "private"]
    for publisher, token in ((Publisher(), None), (ANN, ANNS_TOKEN)):
        request = request_of(publisher)
        request.request.scope["session"].get("oauth_info", {}).update(scope="", expires_at=None)
        inputs, *_ = special_args(ask, list(given), request, None)
        assert (inputs[5].token if inputs[5] else None) == token
        monkeypatch.setattr(LocalContext, "request", SimpleNamespace(get=lambda default, asked=request: asked))
        assert visitor() == publisher
    assert any("Sign in" in str(value) for value in ask(*given, None).values())

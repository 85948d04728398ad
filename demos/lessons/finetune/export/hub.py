"""The push to the reader's own account on the Hub: requested, confirmed in a dialog that describes it, then done."""

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import gradio as gr
from markupsafe import Markup

from demos.errors import UserError
from demos.files import read_beside
from demos.lessons.finetune.export.model_zips import written
from demos.page.guards import OUR_FAULT, notice_html
from demos.page.visitor import visitor
from demos.templates import templates
from demos.training.export.hub_push import SIGN_IN, check_new, push, repository_of
from demos.training.export.publisher import Publisher, check_publisher
from demos.training.export.run_log import Log
from demos.training.learning.model import Trained
from demos.training.results.history import Record
from demos.training.service.runs import Runs
from demos.widgets.scripted.scripted import scripted

logger = logging.getLogger(__name__)
TEXT = templates(__file__)
CONFIRM_SECONDS = 300.0  # for which a question may be answered
LATE = (
    f"You took longer than {CONFIRM_SECONDS / 60:.0f} minutes to confirm, so nothing was published; press the button "
    "again."
)
UNASKED = "There is nothing to confirm; press the button again."
VISIBILITY = [("only you (private)", "private"), ("everyone (public)", "public")]
ASKING = {"concurrency_id": "ask the hub", "concurrency_limit": 4, "api_visibility": "private"}
PUSHING = {"concurrency_id": "push", "concurrency_limit": 2, "api_visibility": "private"}


def signs_in() -> bool:
    """Whether readers can sign in with their own Hub account: only on a Space whose settings enable it.

    Elsewhere gradio would hand out the account of whoever started the app. A Space brings what gradio needs for it.
    """
    space = os.environ.get("SPACE_ID") and os.environ.get("OAUTH_CLIENT_ID")
    return bool(space and find_spec("authlib") and find_spec("itsdangerous"))


@dataclass(frozen=True)
class Question:
    """The push that the reader must confirm. It is done as described, even if the page has changed by then."""

    run: str
    repository: str
    private: bool
    account: str
    until: float  # by time.monotonic


class Publishing:
    """The question of the dialog, and the push after its answer.

    `taken` gives a run's model and its log. Both steps receive the sender's cookie: anyone who knows a session's name
    may post events to it, but not as the browser that began its run.
    """

    def __init__(self, runs: Runs, taken: Callable[[str], tuple[Trained, Log]]) -> None:
        self.runs, self.taken = runs, taken

    def ask(self, run: str, name: str, visibility: str, publisher: Publisher, token: str | None) -> Question:
        """The question for a run and a name. Raises UserError if nothing could be published."""
        if not token or not publisher.account:
            raise UserError(SIGN_IN)
        self.taken(run)
        check_publisher(self.runs.folder(run), publisher)
        repository = repository_of(publisher.account, name)
        check_new(repository, token)
        return Question(run, repository, visibility != "public", publisher.account, time.monotonic() + CONFIRM_SECONDS)

    def publish(self, question: Question | None, publisher: Publisher, token: str | None) -> Markup:
        """Push the model and return its address on the Hub.

        Raises UserError; the token is used once and kept nowhere.
        """
        if question is None:
            raise UserError(UNASKED)
        if time.monotonic() > question.until:
            raise UserError(LATE)
        if not token or publisher.account != question.account:
            raise UserError(SIGN_IN)
        check_publisher(self.runs.folder(question.run), publisher)
        with written(*self.taken(question.run)) as folder:
            return TEXT.pushed(push(folder, question.repository, token, question.private))


def hub_section(
    publishing: Publishing, picked: Callable[[str, Sequence[Record], str | None], str], inputs: list[gr.Component]
) -> None:
    """On a Space the button that pushes; elsewhere how it is done by hand. `picked` is the run that `inputs` mean."""
    gr.HTML(TEXT.title("To your account on the Hub"))
    if not signs_in():
        gr.Markdown(read_beside(__file__, "hub.md"), elem_classes="export-words")
        return
    with gr.Row():
        gr.LoginButton(min_width=240, scale=0)
        name = gr.Textbox(
            "bert-fine-tuned", label="Name of the model", max_length=60, min_width=220, elem_id="export-name"
        )
        visibility = gr.Radio(VISIBILITY, value="private", label="Visible to", min_width=280)
        button = gr.Button("Publish on the Hub…", min_width=220, elem_id="export-push")
    outcome = gr.HTML(elem_id="export-pushed")
    question = gr.State(None)
    dialogue = scripted(read_beside(__file__, "dialogue.js"), "export-confirm", "")

    def ask(
        run: str, history: list[Record], number: str, name: str, visibility: str, token: gr.OAuthToken | None
    ) -> Any:
        """Signed in, gradio fills in the token; it is no input, so it is never in the page."""
        chosen = picked(run, history, number)

        def changes() -> Iterator[dict[Any, Any]]:
            pending = publishing.ask(chosen, name, visibility, visitor(), token.token if token else None)
            yield {question: pending, dialogue: TEXT.question(pending, CONFIRM_SECONDS / 60), outcome: ""}

        return next(_guarded(changes(), outcome))

    def publish(pending: Question | None, token: gr.OAuthToken | None) -> Any:
        def changes() -> Iterator[dict[Any, Any]]:
            yield {question: None, dialogue: "", outcome: TEXT.progress("Publishing the model…")}
            yield {outcome: publishing.publish(pending, visitor(), token.token if token else None)}

        yield from _guarded(changes(), outcome)

    button.click(ask, [*inputs, name, visibility], [question, dialogue, outcome], trigger_mode="once", **ASKING)
    dialogue.submit(publish, [question], [question, dialogue, outcome], trigger_mode="once", **PUSHING)
    dialogue.clear(lambda: (None, ""), None, [question, dialogue], show_progress="hidden", **ASKING)


def _guarded(changes: Iterator[dict[Any, Any]], outcome: gr.HTML) -> Iterator[dict[Any, Any]]:
    """Yield the changes; an error becomes a sentence on the page."""
    try:
        yield from changes
    except UserError as error:
        yield {outcome: notice_html(str(error))}
    except Exception as error:
        logger.error("a push failed: %s", type(error).__name__)  # its text might hold the token
        yield {outcome: notice_html(OUR_FAULT)}

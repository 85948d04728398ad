"""The Fine-tune lesson and its part "Train" in a bare page, for tests."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import gradio as gr

from demos.lessons.finetune import LESSON
from demos.lessons.finetune.train import part as train
from demos.lessons.finetune.train import recipe
from demos.page.lesson import Page
from demos.page.services import Services
from demos.training.form_values import (
    OWN,
    shown_settings,
)
from demos.training.settings import Settings
from demos.widgets.run_controller import run_controller
from tests.page.tiny_store import TinyStore
from tests.shown_values import with_values

QUICK = Settings(epochs=2, learning_rate=3e-3, batch_size=8, max_length=24)
CHOSEN = shown_settings(QUICK)
BEGIN = ("model", [])  # what it begins with, and the reader's history
EMOTION = ("sentence", OWN, None, None, "", "", 1_500)
TSV = "".join(f"a {('dull', 'fine')[k % 2]} film number {k}\t{('no', 'yes')[k % 2]}\n" for k in range(60))


class Wired:
    """The lesson built into a bare page: what it wires by trigger, and its endpoint."""

    def __init__(self, store: TinyStore) -> None:
        self.tiny = store.loaded
        self.draws: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.endpoints: dict[str, Callable[..., Any]] = {}
        wired = self

        class Recorder(Page):
            def draw(self, show: Any, inputs: Any, outputs: Any, **options: Any) -> None:
                wired.draws.append({"show": with_values(show), "inputs": inputs, "outputs": outputs, **options})

            def on(self, triggers: Any, handler: Any, inputs: Any, outputs: Any, **options: Any) -> None:
                wired.events.append({"run": handler, "inputs": inputs, "outputs": outputs, **options})

            def endpoint(self, function: Callable[..., Any], **options: Any) -> None:
                wired.endpoints[function.__name__] = function
                wired.endpoint_options = options

        with gr.Blocks():
            box = gr.Textbox
            self.page = Recorder(
                LESSON, Services(store, "tiny"), box(), box(), box(), box(), box(), gr.HTML(), gr.State("")
            )
            LESSON.build(self.page)
            with ExitStack() as patches:
                for module in (train, recipe, run_controller):
                    patches.enter_context(patch.object(module, "by_component", self.named))
                train.PART.build(self.page)
        self.give_back, self.task, self.idle, self.menu, self.fill, *runs = self.events
        self.begin, self.on_cpu, self.train, self.resume, self.stop, self.finish, *rest = runs
        self.pause, self.ask, self.recall = rest

    def named(self, parts: dict[str, Any], handler: Callable[..., Any]) -> Callable[..., Any]:
        """Instead of `by_component`: the tests ask for what changes by name."""
        self.parts = parts
        return handler

    def reaches(self, changes: dict[str, Any], wired: dict[str, Any]) -> bool:
        """Whether all that changes is among the outputs."""
        return {self.parts[name] for name in changes} <= set(wired["outputs"])

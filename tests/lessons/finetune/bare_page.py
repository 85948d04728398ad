"""The part "Train" without a browser: its view, its runs, and the Fine-tune lesson's endpoint, for tests."""

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from demos.lessons.finetune import LESSON
from demos.lessons.finetune.train.choices import PICKED, SETTINGS
from demos.lessons.finetune.train.controller import Trainer
from demos.lessons.finetune.train.part import Train, runs
from demos.page.lesson import Page
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.form_values import OWN, RECIPE, shown_settings
from demos.training.settings import Settings
from tests.page.tiny_store import TinyStore
from tests.shown_values import with_values

QUICK = Settings(epochs=2, learning_rate=3e-3, batch_size=8, max_length=24)
CHOSEN = shown_settings(QUICK)
EMOTION = ("sentence", OWN, None, None, "", "", 1_500)
TSV = "".join(f"a {('dull', 'fine')[k % 2]} film number {k}\t{('no', 'yes')[k % 2]}\n" for k in range(60))


class Bare:
    """The part and its lesson in a bare page."""

    def __init__(self, store: TinyStore) -> None:
        self.tiny = store.loaded
        self.services = Services(store, "tiny")
        self.trainer, self.runs = self.services.shared(Trainer), self.services.shared(runs)
        self.endpoints: dict[str, Callable[..., Any]] = {}
        bare = self

        class Recorder(Page):
            def endpoint(self, function: Callable[..., Any], **options: Any) -> None:
                bare.endpoints[function.__name__] = function
                bare.endpoint_options = options

        with gr.Blocks() as self.blocks:
            box = gr.Textbox
            self.page = Recorder(LESSON, self.services, box(), box(), box(), box(), box(), gr.HTML(), gr.State(""))
            LESSON.build(self.page)
            Train().build(self.page)

    def draw(
        self, picked: Sequence[Any] = EMOTION, chosen: Sequence[Any] = CHOSEN, method: str = "draw", **said: Any
    ) -> dict[str, Any]:
        """What a method of the view answers for these data, settings and other choices."""
        on = On(self.services, Sentence("", "", "tiny"))
        settings = {SETTINGS[name]: value for name, value in zip(RECIPE, chosen, strict=True)}
        c = Train().read(on, dict(zip(PICKED, picked, strict=True)) | settings | said)
        answer: dict[str, Any] = with_values(getattr(Train(), method))(on, c)
        return answer

"""Lesson: fine-tune live. Its parts are the folders beside this file."""

from collections.abc import Iterator

import gradio as gr

from demos.files import Json
from demos.page.lesson import IN_BROWSER, Lesson, Page
from demos.page.parts import parts_of
from demos.page.past_runs import give_back
from demos.training.events import as_json
from demos.training.form_values import requested_dataset
from demos.training.settings import Settings

MOST_CALLS = 2  # of the API at once: programs can't take all places in line from the page's readers
CALL_SECONDS = 180.0  # of an API call: one whose client is gone then holds the others up no longer


def build(page: Page) -> None:
    """Above the parts: what this browser has trained here before is given back. Also the API's endpoint."""
    lost = gr.HTML("", elem_id="finetune-lost")
    give_back(page, lost)
    page.forget([lost], [page.history.change])
    page.history.change(None, None, None, js="() => insideBert.link.trained(true)", **IN_BROWSER)
    lost.change(None, [lost], None, js="(sentence) => { if (sentence) insideBert.link.trained(false); }", **IN_BROWSER)
    offer_endpoint(page)


def offer_endpoint(page: Page) -> None:
    """The API's `fine_tune`."""
    services = page.services
    trainings = services.trainings

    def fine_tune(
        data: str = "emotion",
        pooling: str = "mean",
        epochs: int = 3,
        learning_rate: float = 1e-4,
        batch_size: int = 16,
        seed: int = 0,
        model: str = "",
        trains: str = "all",
        task: str = "",
    ) -> Iterator[Json]:
        """Fine-tune a copy of the model and stream what happens, one JSON object an event.

        data is one of the bundled sets (emotion, sentiment, films, paraphrase, entailment, entities, questions,
        unanswerable, endings, similarity, restaurants) or
        the text of a TSV file: text, label and perhaps split columns (train, validation, test). trains is all, top,
        lora or head.
        task is the data's own where it is empty: sentence, labels, pair, entities, question, choice or
        similarity.
        The event field says which: waiting, started, caching, step, epoch, watched, scoring, and last finished,
        stopped or failed.
        """
        settings = Settings(
            pooling=pooling,
            epochs=epochs,
            learning_rate=learning_rate,
            batch_size=batch_size,
            seed=seed,
            max_seconds=CALL_SECONDS,
            trains=trains,
        ).check()
        _, dataset = requested_dataset(data, seed, task)
        key = services.pretrained_key(model)
        run = trainings.runs.new()
        folder = services.store.folder(key)
        events = trainings.fine_tune(run, dataset, key, folder, settings, keep=False)  # no other client knows its id
        try:
            for event in events:
                yield as_json(event)
        finally:
            events.close()  # type: ignore[attr-defined]

    page.endpoint(fine_tune, concurrency_id="fine_tune", concurrency_limit=MOST_CALLS)


LESSON = Lesson(
    slug="finetune",
    order=6,
    only_bert=True,
    tab="Fine-tune",
    question="How is BERT fine-tuned for a task?",
    look="A pre-trained model learns some tasks from a few hundred labeled examples. Train one.",
    build=build,
    parts=parts_of(__name__),
)

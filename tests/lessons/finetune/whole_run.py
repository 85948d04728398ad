"""A run of "Train" as the page is told of it, for tests: its curve's messages, then what is told at its end."""

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from demos.lessons.finetune.train.controller import Trainer

CHANGED = (
    "run", "kept", "start", "pause", "stop", "results", "scores", "matrix", "picture", "figure", "mistakes", "numbers",
    "answer", "cost", "history", "on_cpu",
)  # fmt: skip


def whole_run(
    trainer: Trainer,
    picked: Sequence[Any],
    recipe: Sequence[Any],
    boxes: Sequence[str] = ("", "", ""),
    model: str = "tiny",
    now: str = "",
    reader: str = "",
    earlier: str = "model",
) -> Iterator[dict[str, Any]]:
    """What changes on the page, by name, update by update; the last one has everything that is told at the end.

    `picked` and `recipe` are what `read_dataset` (but for the seed) and `read_settings` take. `now` is the task
    chosen at the end, where it is another one.
    """
    run = trainer.trainings.runs.new()
    updates = trainer.work(run, reader or run, model, earlier, *picked, *recipe)
    message = ""
    try:
        for update in updates:
            message = update.get("curve", message)
            changed = dict.fromkeys(CHANGED) | {"run": run}
            if "phase" in update:
                ended = trainer.finish(update["phase"], run, now or picked[0], *boxes)
                learned = trainer.results(ended["kept"], now or picked[0]) if "kept" in ended else {}
                changed = dict.fromkeys(CHANGED, gr.skip()) | ended | learned
            yield {"curve": message, **changed}
    finally:
        updates.close()  # type: ignore[attr-defined]

"""A run of "Train" as the page is told of it, for tests: its curve's messages, then what is told at its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from demos.lessons.finetune.train.controller import CHANGED, Trainer


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
    updates = trainer.work(run, reader or run, "", "", model, earlier, *picked, *recipe)
    message = ""
    try:
        for update in updates:
            message = update.get("curve", message)
            changed = dict.fromkeys(CHANGED) | {"run": run}
            if "phase" in update:
                ended = trainer.finish(update["phase"], run, now or picked[0], *boxes)
                changed = dict.fromkeys(CHANGED, gr.skip()) | ended
            yield {"curve": message, **changed}
    finally:
        updates.close()  # type: ignore[attr-defined]

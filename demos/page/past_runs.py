"""This browser's earlier trainings, given back to each page that it opens, since a new page has no state."""

from typing import Any

import gradio as gr

from demos.page.guards import notice_html
from demos.page.lesson import Page
from demos.training.service.stored_runs import MAX_DAYS

LOST = (
    f"Your earlier runs are no longer on this server: it keeps them for {MAX_DAYS:.0f} days after you last opened this "
    "lesson, or until it needs the space or restarts. Until you train again, “What was learned” and “Your runs” "
    "show a sample."
)


def give_back(page: Page, lost: gr.HTML | None = None) -> None:
    """Fill `page.trained` and `page.history`; `lost` gets a sentence where the server has no run any more."""
    readers = page.services.trainings.readers
    outputs = [page.trained, page.history, *([] if lost is None else [lost])]

    def known(reader: str) -> dict[gr.Component, Any]:
        history = readers.history(reader)
        if history:
            return {page.trained: history[-1].run, page.history: history}
        return {} if lost is None else {lost: notice_html(LOST)}

    page.on([page.returning.change], known, [page.returning], outputs)

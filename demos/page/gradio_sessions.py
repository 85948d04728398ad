"""What the server keeps of each visit: Gradio's session without its copy of the page.

Gradio writes out the configuration of all components for each visit, and later the last value of each output, pictures
included: 100 ms on the event loop and some megabytes a reader, kept until 500 others have come. Only its deep links
(`gr.DeepLinkButton`) read it, and this page has none: its links carry the choices.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import gradio as gr
from gradio import state_holder


class Session(state_holder.SessionState):
    """A visit's `gr.State` values and the components that an update has changed; no configurations."""

    def __init__(self, blocks: gr.Blocks) -> None:
        self.blocks_config = copy(blocks.default_config)
        self.config_values: dict[int, dict[str, Any]] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl: dict[int, Any] = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = 3600  # seconds, Gradio's own

    def __setitem__(self, key: int, value: Any) -> None:
        super().__setitem__(key, value)
        self.config_values.clear()

    def _update_config(self, key: int) -> None:
        """Nothing: what it would bring up to date is not kept."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Nothing: what it would bring up to date is not kept."""


def keep_sessions_small() -> None:
    """Have Gradio make each new session a `Session`."""
    state_holder.SessionState = Session

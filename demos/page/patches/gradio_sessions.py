"""The server's memory of each visit: Gradio's session without its copy of the page.

Gradio writes out the configuration of all components for each visit, and later the last value of each output, pictures
included: 100 ms on the event loop and some megabytes a reader, kept until many others have come. Its lists of
components and handlers alone, copied, are 80 kB a visit. Only its deep links (`gr.DeepLinkButton`) read it, and this
page has none: its links carry the choices.
"""

from collections import ChainMap
from collections.abc import Container
from typing import Any, cast

import gradio as gr
from gradio import state_holder
from gradio.blocks import BlocksConfig


class Session(state_holder.SessionState):
    """A visit's `gr.State` values and the components that an update has changed; no configurations."""

    def __init__(self, blocks: gr.Blocks) -> None:
        self.blocks_config = _own(blocks.default_config)
        self.config_values: dict[int, dict[str, Any]] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl: dict[int, Any] = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = 3600  # seconds, Gradio's own

    def __setitem__(self, key: int, value: Any) -> None:
        if isinstance(self.blocks_config.blocks.get(key), gr.State):
            super().__setitem__(key, value)
            self.config_values.clear()
        else:
            self.blocks_config.blocks[key] = value

    def _update_config(self, key: int) -> None:
        """Nothing: what it would bring up to date is not kept."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Nothing: what it would bring up to date is not kept."""


class Sessions(state_holder.StateHolder):
    """The sessions of all visits. Of too many the one goes that was idle for longest and whose page is closed.

    So no crowd of others takes away what an open page has trained (`protection/heartbeats.py` says which are open).
    """

    def __init__(self) -> None:
        super().__init__()
        self.open_pages: Container[str] = ()

    def update(self, session_id: str) -> None:
        with self.lock:
            if session_id in self.session_data:
                self.session_data.move_to_end(session_id)
            while len(self.session_data) > self.capacity:
                *others, _ = list(self.session_data)
                gone = next((session for session in others if session not in self.open_pages), others[0])
                self.session_data.pop(gone, None)
                self.time_last_used.pop(gone, None)


def _own(shared: BlocksConfig) -> BlocksConfig:
    """A visit's components and handlers: those shared by all visits, overlaid with the ones that this visit has
    changed.
    """
    own = BlocksConfig(shared.root_block)
    own.blocks = cast("dict[int, Any]", ChainMap({}, cast("dict[int, Any]", shared.blocks)))
    own.fns = cast("dict[int, Any]", ChainMap({}, cast("dict[int, Any]", shared.fns)))
    own.fn_id, own.renderables = shared.fn_id, list(shared.renderables)
    return own

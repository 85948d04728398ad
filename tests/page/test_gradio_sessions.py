"""Sessions without a copy of the page: what a reader's visit holds is kept and is nobody else's."""

from collections.abc import Iterator

import gradio as gr
import pytest
from gradio_client import Client

from demos.page.patches.gradio_sessions import Session
from tests.page.patched import apply_named


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> Iterator[gr.Blocks]:
    apply_named(monkeypatch, "SessionState")
    with gr.Blocks(analytics_enabled=False) as demo:
        count = gr.State(0)
        shown = gr.Number(0)
        menu = gr.Dropdown(["a", "b"], value="a")
        chosen = gr.Textbox()
        add, widen, read = gr.Button(), gr.Button(), gr.Button()
        add.click(lambda value: (value + 1, value + 1), count, [count, shown], api_name="add")
        widen.click(lambda: gr.Dropdown(["c"], value="c"), None, menu, api_name="widen")
        read.click(lambda value: value, menu, chosen, api_name="read")
    demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False)
    yield demo
    demo.close()


def test_states_and_updates_are_kept_for_each_visit_alone(demo: gr.Blocks) -> None:
    first, second = (Client(demo.local_url, verbose=False) for _ in range(2))
    assert [first.predict(api_name="/add") for _ in range(3)] == [1, 2, 3]
    assert second.predict(api_name="/add") == 1
    first.predict(api_name="/widen")
    assert first.predict("c", api_name="/read") == "c"  # a choice that only the update brought
    with pytest.raises(Exception, match="not in the list of choices"):
        second.predict("c", api_name="/read")


def test_no_visit_holds_a_copy_of_the_page(demo: gr.Blocks) -> None:
    client = Client(demo.local_url, verbose=False)
    client.predict(api_name="/add")
    client.predict(api_name="/widen")
    sessions = list(demo.state_holder.session_data.values())
    assert [type(session) for session in sessions] == [Session]
    assert sessions[0].config_values == {}
    own = {**sessions[0].blocks_config.blocks.maps[0], **sessions[0].blocks_config.fns.maps[0]}
    assert [type(component) for component in own.values()] == [gr.Dropdown]  # the one that an update has changed
    assert len(sessions[0].blocks_config.blocks) == len(demo.blocks)


def test_it_has_what_gradios_own_session_has(demo: gr.Blocks) -> None:
    """Where Gradio gives its sessions something new, this fails, and `Session` must be looked at."""
    (gradios,) = Session.__bases__
    assert vars(Session(demo)).keys() == vars(gradios(demo)).keys()

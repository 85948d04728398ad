"""The reader's choices are the reader's: no answer of the server sets a control."""

import gradio as gr

from demos.page.lesson import Page

CONTROLS = (gr.Slider, gr.Number, gr.Radio, gr.Checkbox, gr.CheckboxGroup, gr.Dropdown, gr.Textbox, gr.File)


def test_no_event_of_the_server_sets_a_choice(pages: dict[str, tuple[gr.Blocks, Page]]) -> None:
    choices = {control._id: name for _, page in pages.values() for name, control in page.choices.items()}
    (demo, _), *_ = pages.values()
    written: set[str] = set()
    seen = 0
    for event in demo.fns.values():
        if event.fn is None:  # the browser's own
            continue
        seen += 1
        for output in event.outputs:
            is_control = isinstance(output, CONTROLS) and output.visible != "hidden" and output.interactive is not False
            if is_control or output._id in choices:
                written.add(choices.get(output._id) or output.elem_id or str(output.label))
    assert seen > 100
    assert written == {"bar-model"}  # what a link or a refusal says of the model is shown in its menu

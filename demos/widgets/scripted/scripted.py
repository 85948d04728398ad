"""HTML that a lesson draws and a script of ours moves."""

from typing import Any

import gradio as gr


def scripted(script: str, elem_id: str, value: str | None = None, **options: Any) -> gr.HTML:
    """HTML whose value is shown as it is, and `script`, which runs once for it (`element` is what it may touch).

    The script finds `elem_id` as `props.name`, and what is in `options` beside Gradio's own as further `props`.
    """
    return gr.HTML(
        value,
        html_template="${value}",
        js_on_load=script,
        apply_default_css=False,
        elem_id=elem_id,
        name=elem_id,
        **options,
    )

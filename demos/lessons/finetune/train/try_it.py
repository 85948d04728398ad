"""Examples for the trained model: a menu that follows the task, and fills the boxes under it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import gradio as gr

from demos.files import read_json_beside
from demos.page.examples import OWN, examples_of, fill_from
from demos.page.lesson import IN_BROWSER

EXAMPLES: dict[str, dict[str, list[str]]] = read_json_beside(__file__, "try_it.json")  # task -> name -> a text a box


def examples_menu() -> gr.Dropdown:
    """The examples of the task that the page opens with; the first is what its boxes hold."""
    return examples_of([*EXAMPLES["sentence"]], label="Example", elem_id="finetune-try-examples")


def wire_examples(menu: gr.Dropdown, task: gr.Component, boxes: Sequence[gr.Component]) -> None:
    """Let the menu follow `task`, and what is picked in it fill `boxes`; in the browser alone."""
    texts = {
        name: example + [""] * (len(boxes) - len(example))
        for named in EXAMPLES.values()
        for name, example in named.items()
    }
    fill_from(menu, boxes, texts)
    names = json.dumps({kind: [[name, name] for name in (*named, OWN)] for kind, named in EXAMPLES.items()})
    update = f'(task) => ({{ __type__: "update", choices: ({names})[task], value: ({names})[task][0][0] }})'
    task.change(None, [task], [menu], js=update, **IN_BROWSER)

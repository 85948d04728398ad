"""Examples for the trained model: a menu that follows the data, and fills the boxes under it.

The default recipe gets the first example of each data set right with seeds 0, 1 and 2, and one whose name says so
wrong, as `python tests/benchmarks first_examples` measures.
All are of our own writing, or name their source.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import gradio as gr

from demos.files import read_json_beside
from demos.page.examples import OWN, examples_of, fill_from
from demos.page.lesson import IN_BROWSER
from demos.training.sources import SOURCES
from demos.widgets.tasks.registry import VIEWS, bundled

WRONG = "An example it gets wrong: "  # the beginning of such an example's name


@dataclass(frozen=True)
class Example:
    """The texts of the boxes, and the correct answer as `TaskView.in_words` has it; "" where there is none."""

    texts: tuple[str, ...]
    correct: str


EXAMPLES: dict[str, dict[str, Example]] = {  # data set -> name -> example
    data: {name: Example(tuple(stored["texts"]), stored.get("correct", "")) for name, stored in named.items()}
    for data, named in read_json_beside(__file__, "try_it.json").items()
}
FIRST = {kind: bundled(kind)[0][1] for kind in VIEWS}  # the data set that a task opens with


def examples_menu() -> gr.Dropdown:
    """The examples of the data that the page opens with; the first is what its boxes hold."""
    return examples_of([*EXAMPLES[FIRST["sentence"]]], label="Example", elem_id="finetune-try-examples")


def wire_examples(menu: gr.Dropdown, task: gr.Component, data: gr.Component, boxes: Sequence[gr.Component]) -> None:
    """Let the menu follow the data, and what is picked in it fill `boxes`; in the browser alone.

    The reader's own data have the examples of the task, without those that a model trained on our data gets wrong. The
    reader's own text stays if only the data change.
    """
    texts = {
        name: [*example.texts, *[""] * (len(boxes) - len(example.texts))]
        for named in EXAMPLES.values()
        for name, example in named.items()
    }
    fill_from(menu, boxes, texts)
    names = {key: [*named] for key, named in EXAMPLES.items()}
    fitting = {kind: [name for name in names[key] if not name.startswith(WRONG)] for kind, key in FIRST.items()}
    kinds = {key: source.kind for key, source in SOURCES.items()}
    listed = f"""
        const kinds = {json.dumps(kinds)};
        const names = kinds[data] === task ? ({json.dumps(names)})[data] : ({json.dumps(fitting)})[task];
        const choices = [...names, {json.dumps(OWN)}].map((name) => [name, name]);"""
    task.change(
        None,
        [task, data],
        [menu],
        js=f'(task, data) => {{{listed} return {{ __type__: "update", choices, value: names[0] }}; }}',
        **IN_BROWSER,
    )
    data.change(
        None,
        [task, data, menu],
        [menu],
        js=f"""(task, data, held) => {{{listed}
            return {{ __type__: "update", choices, value: held === {json.dumps(OWN)} ? held : names[0] }};
        }}""",
        **IN_BROWSER,
    )


def correct_answer(kind: str, labels: Sequence[str], boxes: Sequence[str]) -> str:
    """The correct answer to one of our examples for this kind of task and these labels; "" to any other text."""
    for data, named in EXAMPLES.items():
        for example in named.values():
            if SOURCES[data].kind == kind and example.texts == tuple(boxes):
                return example.correct if kind not in ("sentence", "pair") or example.correct in labels else ""
    return ""

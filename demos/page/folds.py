"""The folds that every part ends in alike: the numbers, the formula, the code, the source."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import gradio as gr

from demos.files import read_beside
from demos.page.lesson import IN_BROWSER, Page
from demos.page.links import Link

LETTERS = "[What each letter stands for](./glossary#letters)"
MATHS = [{"left": "$$", "right": "$$", "display": True}, {"left": "$", "right": "$", "display": False}]


def folds(module: str, prints: str, numbers: Sequence[str]) -> dict[str, gr.Component]:
    """The folds that the part whose file is `module` ends in; returns what its drawing fills, by name.

    `numbers` names the tables of the first. formula.md and sources.md beside `module`, where they are there, are two
    texts. `prints` is the label above the program, 70 characters at most; "" for a part without one.
    """
    filled: dict[str, gr.Component] = {}
    if numbers:
        with fold(module, "numbers", "The numbers"):
            filled |= {name: gr.HTML("") for name in numbers}
    if Path(module).with_name("formula.md").exists():
        formula_fold(module)
    if prints:
        filled["program"] = code_fold(module, prints)
    if Path(module).with_name("sources.md").exists():
        source_fold(module)
    return filled


@contextmanager
def fold(module: str, name: str, title: str) -> Iterator[gr.Accordion]:
    """A shut fold, for what a part has to say beside the four; its id is lesson-part-`name`."""
    with gr.Accordion(title, open=False, elem_id=f"{_place(module)}-{name}") as shut:
        yield shut


@contextmanager
def all_controls(page: Page, module: str, *, set_elsewhere: bool = False) -> Iterator[None]:
    """The fold "All controls", for what is seldom moved: the link keeps whether it is open, as `part`_controls.

    A link that sets one of them opens it too, unless they are also `set_elsewhere`: by a picture, or by a recipe.
    """
    place = _place(module)
    with gr.Accordion("All controls", open=False, elem_id=f"{place}-controls") as shut:
        yield
    keep_open(page, f"{place.split('-')[-1]}_controls", shut, set_elsewhere=set_elsewhere)


def keep_open(page: Page, name: str, shut: gr.Accordion, *, set_elsewhere: bool = False) -> None:
    """Let the link keep, as `name`, whether this fold is open.

    A link that sets a choice inside the fold opens it too, unless the choice is also `set_elsewhere`.
    """
    is_open = gr.Checkbox(False, visible="hidden")
    page.keep(**{name: is_open})
    if not set_elsewhere:
        page.links[name] = Link(fold=shut)
    shut.expand(None, None, [is_open], js="() => true", **IN_BROWSER)
    shut.collapse(None, None, [is_open], js="() => false", **IN_BROWSER)
    is_open.change(None, [is_open], [shut], js='(open) => ({ __type__: "update", open })', **IN_BROWSER)


def code_fold(module: str, prints: str) -> gr.Code:
    """The fold "The code", with a program to be filled in."""
    with fold(module, "code", "The code"):
        return gr.Code("", language="python", interactive=False, label=prints, lines=8, wrap_lines=True)


def formula_fold(module: str) -> None:
    """The fold "The formula": formula.md beside `module`, and a link to the meaning of its letters."""
    with fold(module, "formula", "The formula"):
        gr.Markdown(f"{read_beside(module, 'formula.md')}\n\n{LETTERS}", latex_delimiters=MATHS)


def source_fold(module: str) -> None:
    """The fold "The source": sources.md beside `module`."""
    with fold(module, "source", "The source"):
        gr.Markdown(read_beside(module, "sources.md"))


def _place(module: str) -> str:
    """lesson-part, or the lesson alone where it has no parts."""
    folder = Path(module).resolve().parent
    return folder.name if folder.parent.name == "lessons" else f"{folder.parent.name}-{folder.name}"

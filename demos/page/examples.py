"""Menus of examples: what is picked goes into text boxes, in the browser; passing through such a menu does nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from demos.page.lesson import IN_BROWSER
from demos.templates import in_script

OWN = "your own"  # such a menu's text when the boxes hold none of its examples


def examples_of(names: Sequence[str], **options: Any) -> gr.Dropdown:
    """A menu of examples for `fill_from`, with the first one picked, whose text the boxes begin with."""
    return gr.Dropdown([*names, (OWN, OWN)], value=next(iter(names)), **options)


def fill_from(menu: gr.Dropdown, boxes: Sequence[gr.Component], texts: Mapping[Any, Sequence[str]]) -> None:
    """Fill `boxes` with the choice in `menu`; `texts` has, for each of the menu's values, one text per box.

    A menu's own `input` event comes with each blur too, with no choice or with an earlier choice, and would
    overwrite the text that was typed since. `change` reports another choice, `select` the same one again.
    A menu made by `examples_of` names the example that the boxes hold, or says that the text is the reader's own.
    """
    texts_json = in_script({str(value): list(example) for value, example in texts.items()})
    index = "[0]" if len(boxes) == 1 else ""  # a single output takes a value, not a list
    left = 'now.map(() => ({ __type__: "update" }))'  # of a box that is being typed in, not even what it held before
    script = f"const texts = {texts_json}; return (Object.hasOwn(texts, picked) ? texts[picked] : {left}){index};"
    gr.on(
        [menu.change, menu.select],
        None,
        [menu, *boxes],
        list(boxes),
        js=f"(picked, ...now) => {{ {script} }}",
        **IN_BROWSER,
    )
    if all(value != OWN for _, value in menu.choices):
        return
    holds = "([, one]) => one.every((text, box) => text === (now[box] ?? ''))"
    script = f"const held = Object.entries({texts_json}).find({holds}); return held ? held[0] : {OWN!r};"
    gr.on([box.change for box in boxes], None, list(boxes), [menu], js=f"(...now) => {{ {script} }}", **IN_BROWSER)

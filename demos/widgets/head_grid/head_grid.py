"""The overview of heads: a component that draws every head of every layer small, to pick one or to switch some off.

In Python::

    at["grid"] = grid = head_grid("All heads", "pick", elem_id="attention-grid")  # or mode "switch"
    gr.on([layer.change, head.change], None, [layer, head], None, js=show_in_grid("attention-grid", "layer", "head"))
    place = [layer, head]
    grid.select(None, place, place, js="(...place) => insideBert.grids['attention-grid'].fill(place, 0)")

Its value, `in_script(grid_message(run))`, depends on the sentence and the model alone. What is framed, struck out or
coloured is the grid's look, set in the browser by `show_in_grid`, before or after the grid is there. A look has these
names, each of which may be left out: `layer`, `head` (framed, from 0), `off` (a list of [layer, head], or its JSON
text), `pattern` (a name in demos.bert.attention.patterns.PATTERNS for the map of that pattern, "" for the pictures),
`habits` (JSON text of demos.widgets.head_grid.figure.habit_message, "" for the scores of this sentence), `source`
("sentence" or "habit").

In JavaScript, once `select` has fired::

    insideBert.grids[elem_id].chosen()  // mode "pick": {layer, head}; "switch": {off: [[layer, head], ...]}
    insideBert.grids[elem_id].strike(layer)  // mode "switch": all heads of this layer are off too -> chosen()
    insideBert.grids[elem_id].fill(values, at)  // these values with layer and head at `at` and `at + 1`, from 1
    insideBert.grids[elem_id].aim(values, at, which)  // the same with the best head of the pattern values[which]
    insideBert.grids[elem_id].best(name)  // {layer, head} of the highest score of a pattern, or null
    insideBert.grids[elem_id].show(look)  // the same as show_in_grid
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

import gradio as gr
import numpy as np

from demos.bert.attention.patterns import pattern_scores
from demos.files import read_beside
from demos.page.bar import DEFAULT_TEXT
from demos.page.services import Services

OPENED = (0, 2)  # layer and head at first, the bundled model's: of another model they are found when it is first drawn

_previous_heads: dict[tuple[str, str], tuple[int, int]] = {}  # by model; two numbers each


def head_grid(
    label: str,
    mode: Literal["pick", "switch"] = "pick",
    *,
    elem_id: str,
    look: Mapping[str, object] | None = None,
    **options: Any,
) -> gr.HTML:
    """The component, in the look it begins with. A click fires `select`: it picks a head, or switches it off or on.

    A function and no subclass: gradio writes a .pyi file beside the source of each subclass of a component.
    """
    return gr.HTML(
        None,
        html_template=read_beside(__file__, "head_grid.html"),
        js_on_load=read_beside(__file__, "script.js"),
        apply_default_css=False,
        elem_id=elem_id,
        name=elem_id,
        mode=mode,
        title=label,
        look=json.dumps(look or {}),
        **options,
    )


def show_in_grid(elem_id: str, *names: str) -> str:
    """A JavaScript handler whose inputs, in order, become these parts of the grid's look; sliders count from 1."""
    return (
        f"(...values) => {{ const id = {json.dumps(elem_id)}, {{ looks }} = insideBert.grids; "
        f"const look = Object.fromEntries({json.dumps(names)}.map((name, i) => [name, values[i]])); "
        "for (const name of ['layer', 'head']) if (name in look) look[name] -= 1; "
        "looks[id] = { ...looks[id], ...look }; insideBert.grids[id]?.show(look); }"
    )


def previous_head(services: Services, model: str) -> tuple[int, int]:
    """(layer, head) with the highest "previous token" score on the sentence that the page opens with."""
    loaded = services.loaded(model)
    key = (loaded.spec.key, loaded.spec.revision)
    if key not in _previous_heads:
        run = services.runs.get(loaded, DEFAULT_TEXT, "")
        scores = pattern_scores(run.attentions, run.encoding)["previous"]
        layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
        _previous_heads[key] = (int(layer), int(head))
    return _previous_heads[key]


def head_to_open(services: Services, model: str, layer: int, head: int, drawn: str) -> tuple[int, int]:
    """(layer, head): what the reader picked; or, where nobody has moved it, this model's own.

    `drawn` is the `run_key` of what was drawn before, empty at first: only another model's head is exchanged.
    """
    now, before = services.loaded(model).spec, drawn.rpartition(".")[0]
    if before == now.key:
        return layer, head
    last = next((place for (key, _), place in _previous_heads.items() if key == before), None) if before else OPENED
    if last:  # beyond this model's end it is read as its last
        last = min(last[0], now.num_layers - 1), min(last[1], now.num_heads - 1)
    return previous_head(services, model) if (layer, head) == last else (layer, head)

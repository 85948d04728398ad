"""The row under a picture that takes it away: PNG and SVG made in the browser, JSON and HTML files made on the server.

    with takeaway_row():
        picture_buttons("#attention-heatmap", "bert-attention-layer{layer}-head{head}",
                        inputs={"layer": layer, "head": head})
        file_button(page, "JSON", make_json, [layer, head])

Pictures are drawn from what is on screen (script.js), in the theme of the moment, on our paper. Files are made
when their button is pressed and travel as an answer to that press alone: nothing is written to the server's disk, so
nothing is left there, and no address exists at which another reader could fetch it. (`gr.DownloadButton` needs its file
before the press: its click is the download.)
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath

import gradio as gr

from demos.errors import UserError
from demos.figures.download_names import file_name
from demos.files import read_beside
from demos.page.lesson import Page
from demos.templates import templates

TEXT = templates(__file__)
SCRIPT = read_beside(__file__, "script.js")  # for the page's head: all rows share it
LARGEST = 12 * 2**20  # bytes of one file
TYPES = {".json": "application/json", ".html": "text/html", ".csv": "text/csv", ".txt": "text/plain"}
PRIVATE = {"api_visibility": "private", "show_progress": "hidden"}


@contextmanager
def takeaway_row(label: str = "Download:") -> Iterator[None]:
    """A small row for the buttons below, and a line in it that says what was saved (read out to who can't see it)."""
    with gr.Row(elem_classes="takeaway"):
        gr.HTML(TEXT.label(label), elem_classes="takeaway-words")
        yield
        gr.HTML(TEXT.saved(), elem_classes="takeaway-words")


def picture_buttons(selector: str, name: str, *, inputs: Mapping[str, gr.Component] | None = None) -> None:
    """Buttons "PNG" and "SVG" that save the picture inside `selector` (CSS) as it is on screen; nothing is sent.

    The picture is the Plotly figure there, else everything there: canvases, svgs, words, fields of colour. A PNG has
    twice the screen's pixels; an SVG has no scripts, style sheets or addresses. `name` becomes the file's name;
    `{layer}` in it is replaced by the value of `inputs["layer"]` at the press, `{layer+1}` by the number of that index.
    """
    values = dict(inputs or {})
    for kind in ("png", "svg"):
        button = _button(kind.upper())
        picture = json.dumps([button.elem_id, selector, kind, name, list(values)])
        script = f"(...values) => insideBert.pictures.save.pressed({picture}, values)"
        button.click(None, list(values.values()), None, js=script, **PRIVATE)


def file_button(
    page: Page,
    label: str,
    make: Callable[..., tuple[str, str]],
    inputs: Sequence[gr.Component],
    *,
    elem_id: str | None = None,
) -> gr.Button:
    """A button that downloads what `make(sentence, *inputs)` returns: (file name, text), made when it is pressed.

    The file name is made harmless (`download_names.file_name` writes descriptive ones); its ending (json, html,
    csv, txt) sets the type. A UserError becomes the lesson's notice; so does a file over 12 MB. Where the size is
    cheap to compute, `sized` makes a label of it.
    """
    button = _button(label, elem_id)
    parcel = gr.HTML("", html_template="", visible="hidden")  # the file on its way; its text is never markup
    page.on(
        [button.click],
        lambda *values: packed(*make(*values)),
        inputs,
        [parcel],
        of_sentence=True,
        concurrency_id="takeaway",
        concurrency_limit=2,
        show_progress="hidden",
    ).then(  # saved, it is forgotten on both sides: gradio keeps an output's last value for each reader
        lambda _: "",
        [parcel],
        [parcel],
        js=f"(file) => insideBert.pictures.save.arrived({json.dumps(button.elem_id)}, file)",
        **PRIVATE,
    )
    return button


def packed(name: str, content: str) -> str:
    """A file as JSON text for the browser: its harmless name, its type, its text. Raises UserError beyond 12 MB."""
    path = PurePath(name)
    extension = path.suffix.lower() if path.suffix.lower() in TYPES else ".txt"
    nbytes = len(content.encode("utf-8"))
    if nbytes > LARGEST:
        raise UserError(
            f"This file would have {megabytes(nbytes)}; the limit is {megabytes(LARGEST)}. "
            "Use a shorter sentence or a single head."
        )
    stem = file_name(path.stem, extension=extension.removeprefix("."))
    parcel = json.dumps({"name": stem, "type": TYPES[extension], "content": content})
    return parcel.replace("<", "\\u003c")  # the same text, in which Gradio sees no script to warn of


def sized(label: str, nbytes: int) -> str:
    """A button's label with its file's size: "JSON (12 kB)"."""
    return f"{label} ({megabytes(nbytes)})"


def megabytes(nbytes: int) -> str:
    """A size as a file manager says it: 1,234,567 bytes are "1.2 MB", 12,345 are "12 kB"."""
    return f"{nbytes / 1e6:.1f} MB" if nbytes >= 95_000 else f"{max(1, round(nbytes / 1e3))} kB"


def _button(label: str, elem_id: str | None = None) -> gr.Button:
    """A small button; script.js finds its row by its id, which is unique."""
    button = gr.Button(label, size="sm", variant="secondary", elem_id=elem_id, elem_classes="save", min_width=60)
    button.elem_id = elem_id or f"save-{button._id}"
    return button

"""Words and tables from templates: the one place where text becomes HTML, every value escaped (Jinja2).

A part's text.html holds macros, one for each piece that is shown:

    {% macro score(name, share) %}<p><q>{{ name }}</q> gets {{ share|f(".0%") }}.</p>{% endmacro %}

and its code fills them in:

    TEXT = templates(__file__)
    TEXT.score(name=token, share=weight)  # Markup: HTML that is not escaped once more where another template shows it

A name that is not given is an error and no empty place. text.txt holds plain text: nothing in it is escaped.
"""

import html
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, Undefined, select_autoescape
from jinja2.bccache import Bucket
from markupsafe import Markup

from demos.counting import counted, from_zero, state_name

DEMOS = Path(__file__).resolve().parent


def formatted(value: Any, spec: str) -> str:
    """The filter `f`: {{ share|f(".0%") }} is Python's f"{share:.0%}"."""
    return str(value) if isinstance(value, Undefined) else format(value, spec)  # str() of what is not given raises


def signed(value: Any, spec: str) -> str:
    """The filter `n`, for a number that may be negative: as `f`, with a true minus, and without a sign if it is 0."""
    written = formatted(value, spec)
    return written.replace("-", "−") if written.strip("+-0.,%") else written.lstrip("+-")


class Compiled(FileSystemBytecodeCache):
    """A cache of compiled templates in the folder of Python's compiled modules; empty where that can't be written."""

    def __init__(self) -> None:
        super().__init__(str(DEMOS / "__pycache__"), f"%s.jinja-{jinja2.__version__}")

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


@cache
def environment() -> Environment:
    """One for all templates. Paths begin at demos/, so that a template may import another's macros."""
    made = Environment(
        loader=FileSystemLoader(DEMOS),
        bytecode_cache=Compiled(),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        auto_reload=False,  # else each macro's use looks at its file
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
    )
    made.filters |= {"f": formatted, "n": signed, "counted": counted, "state_name": state_name}
    made.globals["from_zero"] = from_zero
    return made


class Templates:
    """The macros of one template file, as functions of named values."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Callable[..., Any]:
        macro = getattr(environment().get_template(self._path).module, name)

        def fill(*values: Any, **named: Any) -> str:
            kind = Markup if self._path.endswith(".html") else str
            return kind(str(macro(*values, **named)).strip())

        return fill


def templates(module: str, name: str = "text.html") -> Templates:
    """The template file `name` beside a module, which is given by its `__file__`."""
    return Templates((Path(module).resolve().parent / name).relative_to(DEMOS).as_posix())


def in_script(value: Any) -> str:
    """A value as JSON, in which no text ends the script around it, nor looks to Gradio like one."""
    return json.dumps(value).replace("<", "\\u003c")


def plot_text(text: object) -> str:
    """Text for a Plotly label, which reads some HTML: escaped, quotation marks left as they are."""
    return html.escape(str(text), quote=False)

"""bertviz's three views: the number of tokens each draws, of which heads, and the folder of their scripts."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

LINES_LENGTH = 200  # characters of a choice of heads; what is longer is none


@dataclass(frozen=True)
class View:
    """One of bertviz's views. `limit` is how many tokens it draws at most: beyond, the browser stops answering."""

    name: str
    title: str
    limit: int


VIEWS = {
    view.name: view
    for view in (View("head", "Head view", 128), View("model", "Model view", 128), View("neuron", "Neuron view", 64))
}


def heads_on(lines: str, head: int, num_heads: int) -> list[int] | None:
    """The heads whose lines are drawn, None for all; the chosen one is always among them.

    `lines` is what the head view's choice says: "" for the chosen head alone, "all", or numbers, "2, 5". Anything else
    means the chosen head alone.
    """
    if lines == "all":
        return None
    try:
        numbers = {int(number) for number in lines.split(",")} if lines and len(lines) <= LINES_LENGTH else set()
    except ValueError:
        numbers = set()
    heads = sorted(numbers & set(range(num_heads)))
    if head not in heads:
        return [head]
    return heads if len(heads) < num_heads else None


def lines_said(heads: list[int] | None, head: int) -> str:
    """`heads_on` the other way round."""
    if heads is None:
        return "all"
    return "" if heads == [head] else ", ".join(map(str, heads))


def views_folder() -> Path:
    """The folder of the installed bertviz's scripts; found without importing it, which takes a second."""
    spec = find_spec("bertviz")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("bertviz is not installed: pip install -r requirements.txt")
    return Path(next(iter(spec.submodule_search_locations))).resolve()

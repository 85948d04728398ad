"""The places of files: the folder of shared data, and texts beside the module that they belong to."""

import json
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ASSETS = Path(__file__).resolve().parents[1] / "assets"
DATA = ASSETS / "data"
Json = dict[str, Any]  # any JSON object: what a file, a request or an answer holds


@cache
def read_text(path: Path) -> str:
    """The text of a file, read once."""
    return path.read_text(encoding="utf-8")


def read_asset(name: str) -> str:
    """The text of a file in assets/."""
    return read_text(ASSETS / name)


def read_beside(module: str, name: str) -> str:
    """The text of the file `name` in the folder of a module, which is given by its `__file__`."""
    return read_text(Path(module).resolve().parent / name)


def read_filled(module: str, name: str, values: Mapping[str, object]) -> str:
    """`read_beside` with the text of each value in the place of its name, one name after the other."""
    text = read_beside(module, name)
    for place, value in values.items():
        text = text.replace(place, str(value))
    return text


def read_json_beside(module: str, name: str) -> Any:
    """The value of a JSON file in the folder of a module, which is given by its `__file__`."""
    return json.loads(read_beside(module, name))


def modules_in(package: str, name: str) -> dict[str, ModuleType]:
    """The module `name` of each folder of a package that has such a file, by the folder's name, in its order."""
    places = import_module(package).__path__
    folders = {path.parent.name for place in places for path in Path(place).glob(f"*/{name}.py")}
    return {folder: import_module(f"{package}.{folder}.{name}") for folder in sorted(folders)}

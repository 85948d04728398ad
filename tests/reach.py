"""What a module of the project uses, followed by name into what that uses: for tests of who may reach a library.

Not what is imported: a figure may know the class of a result whose module also computes with torch. What counts is
whether anything that the figure's own code names, or that these name in turn, comes from the library.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

PROJECT = "demos"


def _root(thing: Any) -> str:
    """The top-level package that a module, class or function comes from."""
    name = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
    return str(name or "").partition(".")[0]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code and that of what is defined inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _named(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function's code names: its module's globals, attributes of modules among them, and late imports."""
    for code in _codes(function.__code__):
        found = [(name, function.__globals__[name]) for name in code.co_names if name in function.__globals__]
        late = [(name, sys.modules.get(name)) for name in code.co_names if _root_of_name(name)]
        yield from found
        for name, thing in [*found, *late]:
            if isinstance(thing, ModuleType):
                yield name, thing
                if _root(thing) == PROJECT:
                    yield from ((one, getattr(thing, one)) for one in code.co_names if hasattr(thing, one))


def _root_of_name(name: str) -> bool:
    """Whether a name in a function's code is one of a module that it imports when it is called."""
    root = name.partition(".")[0]
    if root == PROJECT and "." in name:
        importlib.import_module(name)
    return (root == name and name in {"torch", "transformers"}) or ("." in name and name in sys.modules)


def _inside(thing: Any) -> Iterator[tuple[str, Any]]:
    """What a class, a function or a container of the project is made of."""
    thing = getattr(thing, "__wrapped__", thing)
    if isinstance(thing, FunctionType):
        yield from _named(thing)
    elif isinstance(thing, type):
        yield from ((base.__name__, base) for base in thing.__mro__[1:])
        for name, held in vars(thing).items():
            if isinstance(held, property):
                yield name, held.fget
            elif isinstance(held, functools.cached_property | staticmethod | classmethod):
                yield name, getattr(held, "func", None) or held.__func__
            elif isinstance(held, FunctionType):
                yield name, held
    elif isinstance(thing, dict):
        yield from ((str(key), value) for key, value in thing.items())
    elif isinstance(thing, list | tuple | set | frozenset):
        yield from (("…", value) for value in thing)
    elif isinstance(thing, functools.partial):
        yield "…", thing.func
    elif _root(type(thing)) == PROJECT:
        yield type(thing).__name__, type(thing)


def reached(module: str, libraries: frozenset[str]) -> list[str] | None:
    """The way from a module to one of these libraries, as names, or None where nothing leads there."""
    start = importlib.import_module(module)
    own = [(name, thing) for name, thing in vars(start).items() if getattr(thing, "__module__", "") == module]
    own += [(name, thing) for name, thing in vars(start).items() if isinstance(thing, dict | list | tuple)]
    ways: list[tuple[list[str], Any]] = [([module, name], thing) for name, thing in own if name != "__builtins__"]
    seen: set[int] = set()
    held: list[Any] = []  # so that no id is given twice
    while ways:
        way, thing = ways.pop(0)
        for name, next_thing in _inside(thing):
            if _root(next_thing) in libraries:
                return [*way, name]
            plain = isinstance(next_thing, dict | list | tuple | set | frozenset | functools.partial)
            ours = _root(next_thing) == PROJECT or _root(type(next_thing)) == PROJECT
            if id(next_thing) in seen or isinstance(next_thing, ModuleType) or not (plain or ours):
                continue
            seen.add(id(next_thing))
            held.append(next_thing)
            ways.append(([*way, name], next_thing))
    return None

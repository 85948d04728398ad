"""One change to another library: applied where the library's source is unchanged, else left out and logged."""

import ast
import dis
import inspect
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

log = logging.getLogger(__name__)
Check = Callable[[Any], bool]  # of the object at the place that is checked


@dataclass(frozen=True)
class Place:
    """A place in another library on which this app relies. Names are those of `pkgutil.resolve_name`."""

    owner: str  # "package.module" or "package.module:Class"
    name: str  # of its attribute
    what_for: str  # a clause that ends "The app does without this: ", or "This may no longer hold: "
    read_in: str  # the library's version in which it was read
    fits: tuple[Check, ...]

    def is_fit(self) -> bool:
        """Whether the source is unchanged, and every name in this entry leads somewhere."""
        try:
            return self._is_as_read()
        except Exception:  # whatever a library has become, the app is to start
            return False

    def _is_as_read(self) -> bool:
        standing = getattr(resolve_name(self.owner), self.name, None)  # None: a class may leave it to its instances
        return all(check(standing) for check in self.fits)

    @property
    def path(self) -> str:
        """The attribute's whole name, as a reader of the library's source looks for it."""
        return f"{self.owner.replace(':', '.')}.{self.name}"


@dataclass(frozen=True)
class Patch(Place):
    """An attribute that is replaced at run time."""

    ours: str  # the name of what is put there

    def _is_as_read(self) -> bool:
        return super()._is_as_read() and resolve_name(self.ours) is not None

    def apply(self) -> None:
        """Put ours there, for the whole process."""
        setattr(resolve_name(self.owner), self.name, resolve_name(self.ours))


def apply_patches(patches: Iterable[Patch]) -> None:
    """Apply each that fits the installed libraries; one line in the log for each that does not."""
    for patch in patches:
        if patch.is_fit():
            patch.apply()
        else:
            log.warning(f"{patch.path} is not as in {patch.read_in}. The app does without this: {patch.what_for}.")


def check_places(places: Iterable[Place]) -> None:
    """One line in the log for each place that is only read, and has changed."""
    for place in places:
        if not place.is_fit():
            log.warning(f"{place.path} is not as in {place.read_in}. This may no longer hold: {place.what_for}.")


def takes(parameters: str) -> Check:
    """A function with these parameters, in this order; after "..." there may be more."""
    *first, last = parameters.split(", ")

    def check(function: Any) -> bool:
        names = list(inspect.signature(function).parameters)
        return names[: len(first)] == first if last == "..." else names == [*first, last]

    return check


def has(*methods: str) -> Check:
    """A class with methods of these parameters, each written as "name(self, other)"."""
    named = [method.removesuffix(")").partition("(") for method in methods]
    return lambda owner: all(takes(parameters)(getattr(owner, name)) for name, _, parameters in named)


def sets(*attributes: str, alone: bool = False) -> Check:
    """A class whose instances begin with these attributes, and with no other where they are `alone`."""

    def check(owner: Any) -> bool:
        code = list(dis.get_instructions(owner.__init__))
        begun = {instruction.argval for instruction in code if instruction.opname == "STORE_ATTR"}
        return begun == set(attributes) if alone else begun >= set(attributes)

    return check


def uses(module: str, library: str, *names: str) -> Check:
    """A module that uses nothing of a library that it imports but these names, and each of them."""

    def check(_: Any) -> bool:
        tree = ast.parse(inspect.getsource(resolve_name(module)))
        attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        return {node.attr for node in attributes if ast.unparse(node.value) == library} == set(names)

    return check


def at(name: str, check: Check) -> Check:
    """The same check of another place."""
    return lambda _: check(resolve_name(name))

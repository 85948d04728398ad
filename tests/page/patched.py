"""The app's changes to other libraries, applied for one test and taken back after it."""

from pkgutil import resolve_name

import pytest

from demos.page.patches.patch import Patch
from demos.page.patches.patches import PATCHES


def apply(patch: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the app applies it; it must fit."""
    assert patch.is_fit(), patch.path
    monkeypatch.setattr(resolve_name(patch.owner), patch.name, resolve_name(patch.ours), raising=False)


def apply_named(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Those of these attributes: "Queue", "SessionState"."""
    named = [patch for patch in PATCHES if patch.name in names]
    assert {patch.name for patch in named} == set(names)
    for patch in named:
        apply(patch, monkeypatch)

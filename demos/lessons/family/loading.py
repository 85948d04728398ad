"""A model of the Hub is fetched while the page tells how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import wait

from demos.bert.family.family_store import FamilyStore
from demos.bert.family.members import Member
from demos.page.progress import BETWEEN
from demos.templates import templates

TEXT = templates(__file__)
AT_ONCE = 16  # readers who wait for a model; they take nobody's place in the line of drawings


def loading(family: FamilyStore, member: Member) -> Iterator[str]:
    """How far it is, until `member` is in memory; at once where it is, or needs no Hub. Raises UserError as `get`."""
    if not member.hub_id or family.ready(member.key):
        return
    coming = family.begin(member.key)
    while not wait([coming], BETWEEN).done:
        yield TEXT.loading(member, family.progress(member.key))
    yield ""
    coming.result()

"""Uploads beyond a bound: what was used longest ago goes, of whoever holds most."""

from collections.abc import Callable
from pathlib import Path

import pytest

from demos.page.protection import upload_quota
from demos.page.protection.upload_quota import Uploads


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> Uploads:
    """Room for ten files of 100 bytes, four a session."""
    monkeypatch.setattr(upload_quota, "MOST_BYTES", 1_000)
    monkeypatch.setattr(upload_quota, "SESSION_BYTES", 400)
    return Uploads()


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], str]:
    def made(name: str) -> str:
        path = tmp_path / name / "file"
        path.parent.mkdir()
        path.write_bytes(b"x" * 100)
        return str(path)

    return made


def _picked(uploads: Uploads, session: str, path: str) -> set[str]:
    """What a reader's browser does: an upload, and an event that names it."""
    return uploads.add([path]) | uploads.use(session, [path])


def test_the_oldest_of_a_session_go(uploads: Uploads, file: Callable[[str], str]) -> None:
    paths = [file(f"{number}") for number in range(6)]
    gone = set().union(*(_picked(uploads, "a", path) for path in paths))
    assert gone == {*paths[:2]}
    assert [Path(path).exists() for path in paths] == [False] * 2 + [True] * 4
    assert not Path(paths[0]).parent.exists()


def test_what_is_used_again_is_not_the_oldest(uploads: Uploads, file: Callable[[str], str]) -> None:
    paths = [file(f"{number}") for number in range(5)]
    for path in paths[:4]:
        _picked(uploads, "a", path)
    uploads.use("a", paths[:1])
    assert _picked(uploads, "a", paths[4]) == {paths[1]}


def test_uploads_that_no_event_names_push_out_no_file_of_a_session(
    uploads: Uploads, file: Callable[[str], str]
) -> None:
    own = [file(f"own {number}") for number in range(3)]
    for path in own:
        _picked(uploads, "a", path)
    gone = set().union(*(uploads.add([file(f"{number}")]) for number in range(20)))
    assert len(gone) == 16
    assert all(Path(path).exists() for path in own)


def test_of_all_together_those_go_who_hold_most(uploads: Uploads, file: Callable[[str], str]) -> None:
    own = file("own")
    _picked(uploads, "honest", own)
    theirs = [file(f"{number}") for number in range(16)]
    for number, path in enumerate(theirs):
        _picked(uploads, f"stranger {number % 4}", path)
    assert Path(own).exists()
    assert sum(Path(path).exists() for path in theirs) == 9


def test_a_file_of_two_goes_when_nobody_holds_it(uploads: Uploads, file: Callable[[str], str]) -> None:
    shared = file("shared")
    _picked(uploads, "a", shared)
    uploads.use("b", [shared])
    for number in range(4):
        _picked(uploads, "a", file(f"a {number}"))
    assert Path(shared).exists()
    for number in range(4):
        _picked(uploads, "b", file(f"b {number}"))
    assert not Path(shared).exists()


def test_files_are_bounded_in_number(
    uploads: Uploads, file: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_quota, "SESSION_FILES", 3)
    monkeypatch.setattr(upload_quota, "MOST_FILES", 5)
    paths = [file(f"{number}") for number in range(8)]
    for number, path in enumerate(paths):
        _picked(uploads, "a" if number < 4 else "b", path)
    assert [Path(path).exists() for path in paths] == [False, False, True, True, False, True, True, True]


def test_more_sessions_than_are_counted_change_nothing(
    uploads: Uploads, file: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_quota, "MOST_HOLDINGS", 10)
    shared = file("shared")
    for number in range(100):
        _picked(uploads, f"{number}", shared)
    assert sum(map(len, uploads.holdings.values())) <= 11
    assert Path(shared).exists()


def test_what_is_gone_already_is_forgotten(uploads: Uploads, file: Callable[[str], str]) -> None:
    path = file("a")
    _picked(uploads, "a", path)
    Path(path).unlink()
    assert uploads.add([]) == {path}
    assert (uploads.sizes, uploads.holdings) == ({}, {})


def test_what_was_never_uploaded_is_nobodys(uploads: Uploads, file: Callable[[str], str]) -> None:
    assert uploads.use("a", [file("a"), "/etc/passwd"]) == set()
    assert uploads.holdings == {}

"""A process's own folder: gone with it, and after a kill with the next process; never another's that is at work."""

import subprocess
import sys
from pathlib import Path

import pytest

from demos.training.service import own_folder
from demos.training.service.own_folder import OwnFolder
from tests.systems import WINDOWS

PROGRAM = """
import sys
from pathlib import Path
from demos.training.service.own_folder import OwnFolder
own = OwnFolder("mine-", Path(sys.argv[1]))
(own.path / "weights").write_bytes(b"half")
print(own.path, flush=True)
sys.stdin.read()
"""


def other_process(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process with a folder of its own, which ends when its input does."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


def test_it_goes_with_its_process(tmp_path: Path) -> None:
    process, folder = other_process(tmp_path)
    assert (folder / "weights").exists()
    process.communicate("")
    assert process.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_and_nothing_else(tmp_path: Path) -> None:
    strangers = tmp_path / "mine-without-a-lock"
    strangers.mkdir()
    killed, left = other_process(tmp_path)
    alive, in_use = other_process(tmp_path)
    killed.kill()
    killed.communicate()
    assert left.exists()
    with OwnFolder("other-", tmp_path):
        assert left.exists()  # of another prefix
    with OwnFolder("mine-", tmp_path) as own:
        assert own.is_dir()
        assert WINDOWS or own.stat().st_mode & 0o077 == 0
        assert not left.exists()
        assert (in_use / "weights").exists()
        with OwnFolder("mine-", tmp_path) as second:  # in this very process
            assert own.is_dir()
            assert second != own
    alive.communicate("")
    assert list(tmp_path.iterdir()) == [strangers]


def test_none_can_be_made_where_there_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OSError, match=r"."):
        OwnFolder("mine-", tmp_path / "file")


def test_what_could_not_be_removed_goes_with_the_next_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where a file of it is still in use."""
    own = OwnFolder("mine-", tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(own_folder.shutil, "rmtree", lambda *_, **__: None)
        own.cleanup()
    assert own.path.is_dir()
    OwnFolder("mine-", tmp_path).cleanup()
    assert list(tmp_path.iterdir()) == []

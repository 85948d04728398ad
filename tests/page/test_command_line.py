"""Start-up: command line over environment over defaults; what can't start says so in one sentence."""

from __future__ import annotations

import runpy
import socket
import sys
from pathlib import Path

import pytest

from app import main
from demos.errors import UserError
from demos.page.command_line import check_port, read_settings

ROOT = Path(__file__).resolve().parents[2]


def test_the_command_line_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSIDE_BERT_PORT", "8000")
    monkeypatch.setenv("INSIDE_BERT_MODEL", "bert-tiny")
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    settings = read_settings(["--port", "9000"])
    assert (settings.port, settings.model, settings.host) == (9000, "bert-tiny", "0.0.0.0")
    assert read_settings([]).port == 8000
    assert read_settings([]).runs == ""
    monkeypatch.setenv("INSIDE_BERT_RUNS", "/data/runs")
    assert read_settings([]).runs == "/data/runs"
    assert read_settings(["--runs", "here"]).runs == "here"


def test_a_busy_port_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UserError, match=r"^The app can't listen on 127.0.0.1:\d+ .*--port or --host\.$"):
            check_port("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(UserError, match="not a port"):
        check_port("127.0.0.1", 70_000)


def test_the_program_says_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "--root-path" in capsys.readouterr().out


def test_what_it_can_not_do_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["app.py", "--model", "nope"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
    assert ended.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("There is no model 'nope' here")
    assert "\n" not in said

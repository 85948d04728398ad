"""Start-up: command line over environment over defaults; what can't start says so in one sentence."""

import runpy
import socket
import sys
from pathlib import Path

import pytest

from app import main
from demos.errors import UserError
from demos.page.command_line import check_frames, check_mcp, check_port, read_settings

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


def test_frames_come_from_the_command_line_or_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings([]).frame == ()
    monkeypatch.setenv("INSIDE_BERT_FRAME", "https://a.example.edu  https://b.example.edu:8443")
    assert read_settings([]).frame == ("https://a.example.edu", "https://b.example.edu:8443")
    check_frames(read_settings([]).frame)
    assert read_settings(["--frame", "https://c.example.edu", "--frame", "https://d.edu"]).frame == (
        "https://c.example.edu",
        "https://d.edu",
    )


@pytest.mark.parametrize(
    "origin",
    [
        "http://moodle.example.edu",
        "http://localhost:8000",
        "moodle.example.edu",
        "https://moodle.example.edu/",
        "https://moodle.example.edu/course",
        "https://*.example.edu",
        "https://*",
        "https:",
        "https://moodle.example.edu; script-src *",
        "https://moodle.example.edu https://other.example",
        "https://moodle.example.edu\n",
        "https://teacher@moodle.example.edu",
        "https://Moodle.example.edu",
        "*",
        "",
    ],
)
def test_what_is_no_https_origin_is_one_sentence(origin: str) -> None:
    with pytest.raises(UserError, match=r"^[^\n]* is not an https origin; [^\n]*\.$"):
        check_frames(["https://moodle.example.edu", origin])


def test_mcp_is_off_by_default_and_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not read_settings([]).mcp
    assert read_settings(["--mcp"]).mcp
    monkeypatch.setenv("INSIDE_BERT_MCP", "1")
    assert read_settings([]).mcp
    assert not read_settings(["--no-mcp"]).mcp
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r'^--mcp needs [^\n]*pip install "gradio\[mcp\]"$'):
        check_mcp()

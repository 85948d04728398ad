"""Gradio's scripts are changed where they are as they were read, and else sent as they are."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient

from demos.page.delivery.page_cache import PageCache
from demos.page.patches.mend import SCRIPTS, Mend, mended_scripts
from demos.page.patches.patches import MENDS

NOTHING = re.compile(rb"no script has this")
EACH = pytest.mark.parametrize("mend", MENDS, ids=lambda mend: f"{mend.script}: {mend.what_for[:30]}")


@EACH
def test_it_fits_the_installed_version(mend: Mend, caplog: pytest.LogCaptureFixture) -> None:
    ((path, script),) = mended_scripts([mend]).items()
    original = (SCRIPTS / Path(path).name).read_bytes()
    assert len(mend.old.findall(original)) == 1
    assert script == mend.old.sub(mend.new, original) != original
    assert caplog.messages == []


def test_they_all_fit_together(caplog: pytest.LogCaptureFixture) -> None:
    scripts = mended_scripts(MENDS)
    assert {path.partition("-")[0] for path in scripts} == {f"/assets/{mend.script}" for mend in MENDS}
    assert caplog.messages == []


def test_plotly_is_a_third_of_what_gradio_has() -> None:
    (file,) = SCRIPTS.glob("PlotlyPlot-*.js")
    assert len(mended_scripts(MENDS)[f"/assets/{file.name}"]) < 0.4 * file.stat().st_size


def test_the_translation_that_is_announced_is_still_lacking() -> None:
    """Once Gradio's own texts have common.complete, that mend can go."""
    (core,) = SCRIPTS.glob("core-*.js")
    common = re.search(rb"\{built_with:[^}]*\}", core.read_bytes())
    assert common
    assert b"error:" in common[0]
    assert b"complete:" not in common[0]


@EACH
def test_one_that_does_not_fit_is_left_out_and_logged(mend: Mend, caplog: pytest.LogCaptureFixture) -> None:
    unfit = replace(mend, old=NOTHING)
    scripts = mended_scripts([unfit if other is mend else other for other in MENDS])
    assert scripts == mended_scripts([other for other in MENDS if other is not mend])
    (line,) = caplog.messages
    assert line == f"{mend.script}.js is not as in {mend.read_in}. The page does without this: {mend.what_for}."


@pytest.mark.parametrize(
    "files",
    [{}, {"App-a1.js": b"x"}, {"Blocks-a1.js": b"xx"}, {"Blocks-a1.js": b"x", "Blocks-b2.js": b"x"}],
    ids=["no file", "another name", "twice", "in two files"],
)
def test_what_is_not_there_once_is_left_alone(
    files: dict[str, bytes], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_bytes(text)
    mend = Mend("Blocks", "something is better", "Gradio 1", re.compile(b"x"), b"y")
    assert mended_scripts([mend], tmp_path) == {}
    assert caplog.messages == ["Blocks.js is not as in Gradio 1. The page does without this: something is better."]


def test_a_script_is_sent_unchanged_where_nothing_fits() -> None:
    scripts = mended_scripts([replace(mend, old=NOTHING) for mend in MENDS])
    client = _client(scripts)
    for mend in MENDS:
        (file,) = SCRIPTS.glob(f"{mend.script}-*.js")
        answer = client.get(f"/assets/{file.name}")
        assert answer.content == file.read_bytes()
        assert "immutable" in answer.headers["cache-control"]


def _client(scripts: dict[str, bytes]) -> TestClient:
    routes = [Mount("/assets", StaticFiles(directory=SCRIPTS))]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(PageCache, scripts=scripts)]))

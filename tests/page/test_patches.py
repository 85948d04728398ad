"""What the app changes in other libraries fits the installed ones, and the page works without any one of them."""

import ast
import asyncio
import json
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import gradio as gr
import pytest

from demos.bert.model.models import ModelStore
from demos.page.patches.inner_parts import OWN_REQUEST, PAGES_AT_ONCE, READ
from demos.page.patches.patch import Patch, Place, apply_patches, at, check_places, has, sets, takes, uses
from demos.page.patches.patches import PATCHES
from demos.page.protection.error_log import Counted
from tests.conftest import free_port
from tests.hostile.wire import call, send
from tests.page import patched

ROOT = Path(__file__).resolve().parents[2]
PLACES = [*PATCHES, OWN_REQUEST, PAGES_AT_ONCE, *READ]
LIBRARIES = ("gradio", "uvicorn", "starlette", "asyncio")
BEGUN = {"App.api_info": "__init__", "Blocks.route": "__init__"}  # what is checked in the place of such an attribute


def _unfit(place: Place) -> Place:
    return replace(place, fits=(lambda _: False,))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.path)
def test_it_fits_the_installed_version(place: Place) -> None:
    assert place.is_fit()


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.path)
def test_a_change_there_is_noticed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    name = next((begun for end, begun in BEGUN.items() if place.path.endswith(end)), place.name)
    monkeypatch.setattr(resolve_name(place.owner), name, lambda changed: changed)
    assert not place.is_fit()


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.path)
def test_a_module_or_class_that_is_gone_is_noticed(place: Place) -> None:
    module = place.owner.partition(":")[0]
    for owner in (f"{module}_of_before", f"{module}:ClassOfBefore"):
        assert not replace(place, owner=owner).is_fit()


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.path)
def test_one_that_does_not_fit_is_left_out_and_logged(patch: Patch, caplog: pytest.LogCaptureFixture) -> None:
    owner = resolve_name(patch.owner)
    before = getattr(owner, patch.name, None)
    apply_patches([_unfit(patch)])  # type: ignore[list-item]
    assert getattr(owner, patch.name, None) is before
    (line,) = caplog.messages
    assert line == f"{patch.path} is not as in {patch.read_in}. The app does without this: {patch.what_for}."


@pytest.mark.parametrize("loop", [asyncio.AbstractEventLoop, asyncio.new_event_loop], ids=["on Windows", "uvloop"])
def test_the_loop_that_uvicorn_runs_may_be_another(loop: object, monkeypatch: pytest.MonkeyPatch) -> None:
    (accepting,) = (patch for patch in PATCHES if patch.name == "_accept_connection")
    assert accepting.is_fit()
    monkeypatch.setattr("uvicorn.loops.auto.auto_loop_factory", lambda: loop)
    assert not accepting.is_fit()


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.path)
def test_one_whose_own_part_can_not_be_imported_is_left_out(patch: Patch) -> None:
    assert not replace(patch, ours="demos.page.no_such_module:Gone").is_fit()


@pytest.mark.parametrize("place", [OWN_REQUEST, PAGES_AT_ONCE, *READ], ids=lambda place: place.path)
def test_one_that_is_only_read_is_told_of(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    check_places([place, _unfit(place)])
    (line,) = caplog.messages
    assert line == f"{place.path} is not as in {place.read_in}. This may no longer hold: {place.what_for}."


class Shelf:
    """What the checks below look at."""

    def __init__(self, books: int) -> None:
        self.books = books
        self.room = 10 - books

    def put(self, book: str, *, upright: bool = True) -> None:
        """One more."""


def test_the_checks_tell_what_has_changed() -> None:
    assert has("__init__(self, books)", "put(self, book, upright)")(Shelf)
    assert not has("put(self, book)")(Shelf)
    assert takes("self, ...")(Shelf.put)
    assert not takes("self, books, ...")(Shelf.put)
    assert sets("room")(Shelf)
    assert sets("books", "room", alone=True)(Shelf)
    assert not sets("books", alone=True)(Shelf)
    assert not sets("shelves")(Shelf)
    assert at("collections:OrderedDict.move_to_end", lambda method: callable(method))(None)


def test_what_a_module_uses_of_another_is_read_in_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_user.py").write_text(
        "import traceback\ntraceback.print_exc()\ntraceback.format_exc()\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert uses("some_user", "traceback", "print_exc", "format_exc")(None)
    assert not uses("some_user", "traceback", "print_exc")(None)


def test_each_line_is_in_the_log_whose_repetitions_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    counted = Counted()
    caplog.handler.addFilter(counted)
    apply_patches([_unfit(patch) for patch in PATCHES])  # type: ignore[misc]
    check_places([_unfit(place) for place in READ])
    caplog.handler.removeFilter(counted)
    assert len(set(caplog.messages)) == len(PATCHES) + len(READ)


@pytest.fixture(scope="module")
def page(store: ModelStore) -> gr.Blocks:
    """One lesson's page, as the app builds each."""
    from app import build_page
    from demos.bert.model.catalogue import BUNDLED
    from demos.lessons import discover
    from demos.page.delivery.first_views import FirstViews
    from demos.page.services import Services

    lesson = next(lesson for lesson in discover() if lesson.slug == "tokens")
    with gr.Blocks(analytics_enabled=False) as demo:
        build_page(demo, Services(store, BUNDLED), lesson, [lesson], FirstViews())
    return demo


@pytest.mark.slow
@pytest.mark.parametrize("left_out", [None, *PATCHES], ids=lambda patch: patch.path if patch else "none")
def test_the_page_works_without_it(
    page: gr.Blocks, left_out: Patch | None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from app import launch_options
    from demos.page.command_line import read_settings
    from demos.page.delivery.first_views import FirstViews

    for patch in PATCHES:
        if patch is not left_out:
            patched.apply(patch, monkeypatch)
    page.queue()
    settings = read_settings(["--port", str(free_port())])
    page.launch(**launch_options(settings, FirstViews()), prevent_thread_lock=True, quiet=True)
    try:
        assert b"lesson-tokens" in send(page.local_url, "/").body
        answer = call(page.local_url, "tokenize", ["She reads", "", ""])
        assert json.loads(answer.removeprefix("data: "))
        assert "reads" in answer
    finally:
        page.close()
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.slow
def test_the_pages_are_the_same_where_each_is_built_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    import app
    from demos.lessons import discover

    def built() -> tuple[Any, Any]:
        demo = gr.Blocks(analytics_enabled=False)
        for lesson in app.opened_pages(demo, discover()[:3]):
            with gr.Row():
                gr.Textbox(label=lesson.tab)
        labels = {component["id"]: component["props"].get("label") for component in demo.config["components"]}
        pages = {name: [labels[number] for number in page["components"]] for name, page in demo.config["page"].items()}
        return demo.pages, pages

    at_once = built()
    monkeypatch.setattr(app, "PAGES_AT_ONCE", _unfit(PAGES_AT_ONCE))
    assert built() == at_once
    assert [len(labels) for labels in at_once[1].values()] == [3, 3, 3]  # a row, its form, a box


def test_gradio_may_have_lost_the_switch_for_its_own_request(monkeypatch: pytest.MonkeyPatch) -> None:
    import app
    from demos.page.command_line import read_settings
    from demos.page.delivery.first_views import FirstViews

    assert app.launch_options(read_settings([]), FirstViews())["_frontend"] is False
    monkeypatch.setattr(app, "OWN_REQUEST", _unfit(OWN_REQUEST))
    assert "_frontend" not in app.launch_options(read_settings([]), FirstViews())


def changes(source: str) -> list[tuple[int, str]]:
    """(line, place) of each assignment, deletion and `setattr` whose place is in a library that the source imports.

    What the source itself has made, an instance of a class of theirs, is its own.
    """
    if not any(library in source for library in LIBRARIES):
        return []
    tree = ast.parse(source)
    theirs: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            theirs |= {(name.asname or name.name).split(".")[0] for name in node.names if _is_theirs(name.name)}
        elif isinstance(node, ast.ImportFrom) and _is_theirs(node.module or ""):
            theirs |= {name.asname or name.name for name in node.names}
    for _ in range(3):  # names of what they hold, and names of these
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.For | ast.NamedExpr) and _roots(node) & theirs:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                theirs |= {target.id for target in targets if isinstance(target, ast.Name)}
    places = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            places.append((node.lineno, node))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr"):
            places.append((node.lineno, node.args[0]))
    return [(line, ast.unparse(place)) for line, place in places if _root(place) in theirs]


def _is_theirs(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES


def _roots(node: ast.Assign | ast.AnnAssign | ast.For | ast.NamedExpr) -> set[str]:
    """The names at the beginning of what is assigned, or gone through."""
    value = node.iter if isinstance(node, ast.For) else node.value
    values = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    return {root for value in values if value is not None and (root := _root(value))}


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize(
    "source",
    [
        "from gradio import queueing\nqueueing.Queue = int",
        "import gradio as gr\ngr.Blocks.launch = None",
        "import uvicorn.config\nuvicorn.config.HTTP_PROTOCOLS['auto'] = ''",
        "from asyncio import selector_events\nloops = selector_events.BaseSelectorEventLoop\nloops.f = 1",
        "from gradio import queueing, routes\nfor module in (queueing, routes):\n    module.traceback = 1",
        "import starlette\nsetattr(starlette.routing, 'x', 1)",
        "def f():\n    from gradio import routes\n    del routes.App",
    ],
)
def test_a_change_to_a_library_is_found(source: str) -> None:
    assert len(changes(source)) == 1


def test_nothing_is_changed_but_what_is_in_the_list() -> None:
    files = [ROOT / "app.py", *sorted((ROOT / "demos").rglob("*.py"))]
    assert len(files) > 500
    found = {
        (path.relative_to(ROOT).as_posix(), place)
        for path in files
        for _, place in changes(path.read_text(encoding="utf-8"))
    }
    assert found == set()

"""The house holds: imports run one way, libraries keep to their floors, top level fixed, lint clean."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.reach import reached

ROOT = Path(__file__).resolve().parents[1]
# Which floors a floor may import. A floor may be skipped, never climbed; bert/ must not know training/.
BELOW: dict[str, set[str]] = {
    "errors": set(),
    "bert": {"bert", "errors"},
    "training": {"training", "bert", "errors"},
    "figures": {"figures", "bert", "training", "errors"},
    "page": {"page", "figures", "bert", "training", "errors"},
    "lessons": {
        "page",
        "figures",
        "bert",
        "training",
        "errors",
    },  # not lessons: a lesson never imports a lesson
    "app": {"lessons", "page", "figures", "bert", "training", "errors"},
}
# The only floors on which these libraries may be imported.
LIBRARIES: dict[str, set[str]] = {
    "gradio": {"app", "page", "lessons"},
    "plotly": {"figures"},
    "torch": {"bert", "training"},
}
TOP_LEVEL = {
    *(
        "app.py",
        "requirements.txt",
        "demos",
        "assets",
        "tests",
        "README.md",
        "pyproject.toml",
        "CHANGELOG.md",
    ),
    *("LICENSE", ".ci", ".gitignore", ".gitattributes"),
}


def floor_of(path: Path) -> str:
    """The floor of a source file, by its path from the root: "app", or the name after demos/."""
    if path.parts[0] != "demos":
        return "app"
    return path.parts[1].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every import, wherever it stands; a relative one begins with a dot.

    `from demos import bert` names demos.bert, as `import demos.bert` does.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if module == "demos":
                for alias in node.names:
                    yield node.lineno, f"demos.{alias.name}"
            else:
                yield node.lineno, module


def broken_imports(path: Path, source: str) -> list[str]:
    """What a source file imports and may not, one sentence each. `path` is relative to the root."""
    floor = floor_of(path)
    if floor == "__init__":  # demos/__init__.py stands under everything, so it may know nothing
        floor = "errors"
    broken = []
    for line, name in imported(ast.parse(source)):
        where = f"{path}:{line}"
        first, _, rest = name.partition(".")
        if name.startswith("."):
            broken.append(f"{where} imports {name!r} relatively")
        elif first == "demos":
            target = rest.partition(".")[0]
            # A lesson never imports a lesson; the parts of one, in a folder of its own, are one.
            own = floor == "lessons" and f"{name}.".startswith(f"demos.lessons.{path.parts[2]}.")
            if target not in BELOW[floor] and not own:
                broken.append(f"{where}: {floor} may not import {name}")
        elif first in LIBRARIES and floor not in LIBRARIES[first]:
            broken.append(f"{where}: {first} is not for {floor}")
        elif first in {"app", "tests"}:
            broken.append(f"{where}: nothing imports {first}")
    return broken


def sources() -> list[Path]:
    """app.py and all of demos/, relative to the root."""
    return [path.relative_to(ROOT) for path in (ROOT / "app.py", *sorted((ROOT / "demos").rglob("*.py")))]


def test_imports_run_one_way() -> None:
    found = sources()
    assert len(found) > 10
    broken = [line for path in found for line in broken_imports(path, (ROOT / path).read_text(encoding="utf-8"))]
    assert broken == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("demos/bert/x.py", "from demos.figures.tokens import chips"),
        ("demos/bert/x.py", "import demos.training.loop"),
        ("demos/bert/x.py", "from demos import training"),
        ("demos/figures/x.py", "from demos.page.services import Services"),
        ("demos/page/x.py", "def late():\n    from demos.lessons import tokens"),
        ("demos/lessons/x.py", "from demos.lessons.tokens import LESSON"),
        ("demos/lessons/x/part.py", "from demos.lessons.tokens import LESSON"),
        ("demos/errors.py", "import demos.bert"),
        ("demos/__init__.py", "import demos.bert"),
        ("demos/lessons/x.py", "from . import tokens"),
        ("demos/lessons/x.py", "from ..page import lesson"),
        ("demos/figures/x.py", "import gradio as gr"),
        ("demos/training/x.py", "from gradio.components import HTML"),
        ("demos/lessons/x.py", "import plotly.graph_objects as go"),
        ("demos/figures/x.py", "from torch import nn"),
        ("demos/page/x.py", "import torch"),
        ("demos/page/x.py", "if TYPE_CHECKING:\n    import torch"),
        ("app.py", "import torch"),
        ("demos/lessons/x.py", "import app"),
    ],
)
def test_a_climbing_import_is_found(path: str, source: str) -> None:
    assert len(broken_imports(Path(path), source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "app.py",
            "import gradio as gr\nfrom demos.lessons import discover\nimport demos.bert.models",
        ),
        (
            "demos/lessons/x.py",
            "import gradio as gr\nfrom demos.page.lesson import Lesson\nimport demos.bert.run",
        ),
        (
            "demos/page/x.py",
            "from demos.figures.palette import css_variables\nfrom demos.errors import UserError",
        ),
        ("demos/figures/x.py", "import plotly.graph_objects as go\nfrom demos.training.events import Step"),
        ("demos/training/x.py", "import torch\nfrom demos.bert.models import LoadedModel"),
        ("demos/lessons/x/__init__.py", "from demos.lessons.x import part\nfrom demos.lessons.x.part import PART"),
    ],
)
def test_a_floor_may_be_skipped(path: str, source: str) -> None:
    assert broken_imports(Path(path), source) == []


def shared_between_parts(lesson: str, files: Mapping[str, str]) -> list[str]:
    """What a lesson's parts import of one another, one sentence each; `files` holds its folder's sources by name.

    A part is a file that makes a `PART`. Only `__init__` puts parts together; any other file is one part's own.
    """
    trees = {name: ast.parse(source) for name, source in files.items()}
    folder = f"demos.lessons.{lesson}"

    def siblings(name: str) -> set[str]:
        found = set()
        for node in ast.walk(trees[name]):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        return {one.removeprefix(f"{folder}.") for one in found if one.startswith(f"{folder}.")} & set(trees)

    def is_part(name: str) -> bool:
        targets = [target for node in trees[name].body if isinstance(node, ast.Assign) for target in node.targets]
        return any(isinstance(target, ast.Name) and target.id == "PART" for target in targets)

    parts = {name for name in trees if is_part(name)}
    own: dict[str, set[str]] = {}  # a helper, and the parts that reach it
    broken = []
    for name in sorted(set(trees) - {"__init__"}):
        broken += [f"{lesson}/{name}.py imports the part {one}" for one in sorted(siblings(name) & parts)]
    for part in parts:
        todo = [part]
        while todo:
            for one in siblings(todo.pop()) - parts:
                if part not in own.setdefault(one, set()):
                    own[one].add(part)
                    todo.append(one)
    broken += [f"{lesson}/{name}.py serves {', '.join(sorted(by))}" for name, by in own.items() if len(by) > 1]
    return broken


def test_parts_never_import_parts() -> None:
    broken = []
    for folder in sorted(path.parent for path in (ROOT / "demos" / "lessons").glob("*/__init__.py")):
        files = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
        broken += shared_between_parts(folder.name, files)
    assert broken == []


@pytest.mark.parametrize(
    "files",
    [
        {"b": "from demos.lessons.x.a import LIMIT\nPART = 1"},
        {"b": "from demos.lessons.x import a\nPART = 1"},
        {"b": "import demos.lessons.x.a\nPART = 1"},
        {"b": "def late():\n    from demos.lessons.x.a import LIMIT\nPART = 1"},
        {"b_layout": "from demos.lessons.x.a import LIMIT"},
        {"b": "from demos.lessons.x.a_data import read\nPART = 1"},
    ],
)
def test_a_part_that_imports_a_part_is_found(files: dict[str, str]) -> None:
    lesson = {
        "__init__": "from demos.lessons.x import a, b",
        "a": "from demos.lessons.x.a_data import read\nLIMIT = PART = 1",
        "a_data": "",
    }
    assert shared_between_parts("x", lesson) == []
    assert len(shared_between_parts("x", lesson | files)) == 1


COMPUTING = frozenset({"torch", "transformers"})


def test_no_figure_reaches_torch_through_another_module() -> None:
    """By what its code uses, and what that uses in turn; knowing the class of a result is no computing."""
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in sources()]
    figures = [name for name in names if name.startswith("demos.figures.")]
    assert len(figures) > 50
    assert [way for way in (reached(name, COMPUTING) for name in figures) if way] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from demos.bert.models import ModelStore\ndef f():\n    return ModelStore()", True),
        ("from demos.bert.models import ModelStore\nKEPT = {'store': ModelStore}", True),
        ("def f():\n    from demos.bert.models import ModelStore\n    return ModelStore()", True),
        ("def f():\n    import torch\n    return torch.zeros(1)", True),
        ("from demos.bert import run\ndef f():\n    return [run.run_model(x, []) for x in ()]", True),
        ("from functools import cache\nimport torch\n@cache\ndef f():\n    return torch.zeros(1)", True),
        ("from demos.bert.run import Run\ndef f(run: Run):\n    return run.num_layers", False),
        ("from demos.bert.pooling import Choice\ndef f():\n    return Choice('mean', 1)", False),
    ],
)
def test_a_way_to_torch_is_found(source: str, found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"drawing_{abs(hash(source))}"
    (tmp_path / f"{name}.py").write_text(f"from __future__ import annotations\n{source}")
    monkeypatch.syspath_prepend(tmp_path)
    assert (reached(name, COMPUTING) is not None) == found


def readings(source: str) -> list[str]:
    """What `from_pretrained` is called on, except a tokenizer's and an embedding's own."""
    called = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    names = [ast.unparse(one.value) for one in called if getattr(one, "attr", "") == "from_pretrained"]
    return [name for name in names if name not in ("AutoTokenizer", "nn.Embedding")]


def test_models_are_read_in_one_place() -> None:
    """Since two readings that overlap break all models with tied weights (demos/bert/weights.py)."""
    found = {path.relative_to(ROOT).as_posix(): readings(path.read_text()) for path in (ROOT / "demos").rglob("*.py")}
    assert {path for path, names in found.items() if names} == {"demos/bert/weights.py"}
    assert readings("model = AutoModel.from_pretrained(folder)") == ["AutoModel"]


def test_the_top_level_is_fixed() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        assert not os.environ.get("CI"), listed.stderr
        pytest.skip("this copy of the project is no git checkout")
    names = {name.partition("/")[0] for name in listed.stdout.split("\0") if name}
    assert {"demos", "tests"} <= names
    assert names - TOP_LEVEL == set()


@pytest.mark.parametrize("command", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]], ids="-".join)
def test_lint_and_types(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]

"""The house holds: imports run one way, libraries keep to their floors, top level fixed, lint clean."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reach import reached

ROOT = Path(__file__).resolve().parents[1]
# Which floors a floor may import. A floor may be skipped, never climbed; bert/ must not know training/.
FLOORS = (
    "errors",
    "system",
    "files",
    "counting",
    "templates",
    "lecturer_files",
    "bert",
    "training",
    "figures",
    "page",
    "widgets",
    "lessons",
    "app",
)
BELOW: dict[str, set[str]] = {floor: {*FLOORS[:number], floor} for number, floor in enumerate(FLOORS)}
BELOW["errors"] = BELOW["system"] = BELOW["files"] = BELOW["counting"] = set()
BELOW["templates"] = {"counting"}
BELOW["lecturer_files"] = {"errors"}
BELOW["lessons"].remove("lessons")  # a lesson never imports a lesson
BELOW["app"].remove("app")
# The only rooms in which these libraries may be imported.
LIBRARIES: dict[str, set[str]] = {
    "gradio": {"app", "page", "widgets", "lessons"},
    "plotly": set(),  # figures are dictionaries; the tests alone have Plotly's Python package
    "torch": {"bert", "training"},
    "transformers": {"app", "bert", "training"},
}
PICTURES = ("figure", "text", "program")  # a part's or a widget's files of pictures, words and programs
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
        "SECURITY.md",
        "CONTRIBUTING.md",
        "CITATION.cff",
    ),
    *("LICENSE", ".ci", ".gitignore", ".gitattributes"),
}


def floor_of(path: Path) -> str:
    """The floor of a source file, by its path from the root: "app", or the name after demos/."""
    if path.parts[0] != "demos":
        return "app"
    return path.parts[1].removesuffix(".py")


def room_of(path: Path) -> str:
    """The floor; or "pictures" for a file of a part or a widget that draws, and so knows no screen and no model."""
    draws = path.parts[:2] in (("demos", "lessons"), ("demos", "widgets")) and path.stem.split("_")[0] in PICTURES
    return "pictures" if draws else floor_of(path)


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
        elif first in LIBRARIES and room_of(path) not in LIBRARIES[first]:
            broken.append(f"{where}: {first} is not for {room_of(path)}")
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
        ("demos/bert/x.py", "from demos.figures.token_chips import chips"),
        ("demos/bert/x.py", "import demos.training.loop"),
        ("demos/bert/x.py", "from demos import training"),
        ("demos/figures/x.py", "from demos.page.services import Services"),
        ("demos/page/x.py", "def late():\n    from demos.lessons import tokens"),
        ("demos/lessons/x.py", "from demos.lessons.tokens import LESSON"),
        ("demos/lessons/x/part.py", "from demos.lessons.tokens import LESSON"),
        ("demos/page/x.py", "from demos.widgets.takeaway.takeaway import takeaway_row"),
        ("demos/lessons/x/y/figure.py", "import gradio as gr"),
        ("demos/lessons/x/y/part.py", "import plotly.graph_objects as go"),
        ("demos/widgets/x/figure_sums.py", "import torch"),
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
            "import gradio as gr\nfrom demos.lessons import discover\nimport demos.bert.model.models",
        ),
        (
            "demos/lessons/x.py",
            "import gradio as gr\nfrom demos.page.lesson import Lesson\nimport demos.bert.model.run",
        ),
        (
            "demos/page/x.py",
            "from demos.figures.palette import css_variables\nfrom demos.errors import UserError",
        ),
        ("demos/figures/x.py", "import numpy as np\nfrom demos.training.events import Step"),
        ("demos/training/x.py", "import torch\nfrom demos.bert.model.models import LoadedModel"),
        ("demos/lessons/x/__init__.py", "from demos.lessons.x import part\nfrom demos.lessons.x.part import PART"),
    ],
)
def test_a_floor_may_be_skipped(path: str, source: str) -> None:
    assert broken_imports(Path(path), source) == []


def parts_imported(path: Path, source: str) -> list[str]:
    """What a part's file imports of another part of its lesson. What parts share stands beside their folders."""
    lesson, part = path.parts[2:4]
    folder = f"demos.lessons.{lesson}"
    others = {entry.name for entry in (ROOT / "demos" / "lessons" / lesson).iterdir() if entry.is_dir()} - {part}
    names = {name for _, name in imported(ast.parse(source))}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == folder:
            names |= {f"{folder}.{alias.name}" for alias in node.names}
    return [
        f"{path} imports {name}"
        for name in sorted(names)
        for other in others
        if f"{name}.".startswith(f"{folder}.{other}.")
    ]


def test_parts_never_import_parts() -> None:
    files = [path.relative_to(ROOT) for path in (ROOT / "demos" / "lessons").glob("*/*/*.py")]
    assert len(files) > 60
    assert [line for path in files for line in parts_imported(path, (ROOT / path).read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("from demos.lessons.attention.rollout.part import Rollout", 1),
        ("from demos.lessons.attention.rollout import part", 1),
        ("from demos.lessons.attention import rollout", 1),
        ("import demos.lessons.attention.rollout.text", 1),
        ("def late():\n    from demos.lessons.attention.rollout.text import sums", 1),
        ("from demos.lessons.attention.heads.layout import told", 0),
        ("from demos.lessons.attention import offer_endpoint", 0),
        ("from demos.lessons.attention.rollout_table import rows", 0),
    ],
)
def test_a_part_that_imports_a_part_is_found(source: str, count: int) -> None:
    assert len(parts_imported(Path("demos/lessons/attention/heads/part.py"), source)) == count


MOST_MODULES = 20


def test_no_folder_is_a_heap() -> None:
    counts = {folder: len(list(folder.glob("*.py"))) for folder in (ROOT / "demos").rglob("*") if folder.is_dir()}
    assert len(counts) > 50
    assert {
        folder.relative_to(ROOT).as_posix(): count for folder, count in counts.items() if count > MOST_MODULES
    } == {}


COMPUTING = frozenset({"torch", "transformers"})


def test_no_figure_reaches_torch_through_another_module() -> None:
    """By what its code uses, and what that uses in turn; knowing the class of a result is no computing."""
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in sources()]
    figures = [
        name
        for name, path in zip(names, sources(), strict=True)
        if floor_of(path) == "figures" or room_of(path) == "pictures"
    ]
    assert len(figures) > 50
    assert [way for way in (reached(name, COMPUTING) for name in figures) if way] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from demos.bert.model.models import ModelStore\ndef f():\n    return ModelStore()", True),
        ("from demos.bert.model.models import ModelStore\nKEPT = {'store': ModelStore}", True),
        ("def f():\n    from demos.bert.model.models import ModelStore\n    return ModelStore()", True),
        ("def f():\n    import torch\n    return torch.zeros(1)", True),
        ("from demos.bert.model import run\ndef f():\n    return [run.run_model(x, []) for x in ()]", True),
        ("from functools import cache\nimport torch\n@cache\ndef f():\n    return torch.zeros(1)", True),
        ("from demos.bert.model.run import Run\ndef f(run: Run):\n    return run.num_layers", False),
        ("from demos.bert.embeddings.pooling import Choice\ndef f():\n    return Choice('mean', 1)", False),
    ],
)
def test_a_way_to_torch_is_found(source: str, found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"drawing_{abs(hash(source))}"
    (tmp_path / f"{name}.py").write_text(f"from __future__ import annotations\n{source}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert (reached(name, COMPUTING) is not None) == found


def readings(source: str) -> list[str]:
    """What `from_pretrained` is called on, except a tokenizer's and an embedding's own."""
    called = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    names = [ast.unparse(one.value) for one in called if getattr(one, "attr", "") == "from_pretrained"]
    return [name for name in names if name not in ("AutoTokenizer", "nn.Embedding")]


def test_models_are_read_in_one_place() -> None:
    """Since two readings that overlap break all models with tied weights (demos/bert/model/weights.py)."""
    found = {
        path.relative_to(ROOT).as_posix(): readings(path.read_text(encoding="utf-8"))
        for path in (ROOT / "demos").rglob("*.py")
    }
    assert {path for path, names in found.items() if names} == {"demos/bert/model/weights.py"}
    assert readings("model = AutoModel.from_pretrained(folder)") == ["AutoModel"]


def test_text_becomes_html_in_one_place() -> None:
    """In templates, which escape every value."""
    by_hand = [path.as_posix() for path in sources() if "html.escape" in (ROOT / path).read_text(encoding="utf-8")]
    assert by_hand == ["demos/templates.py"]


def test_the_top_level_is_fixed() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    if listed.returncode:
        assert not os.environ.get("CI"), listed.stderr
        pytest.skip("this copy of the project is no git checkout")
    names = {name.partition("/")[0] for name in listed.stdout.split("\0") if name}
    assert {"demos", "tests"} <= names
    assert names - TOP_LEVEL == set()


MYPY = pytest.param(["mypy"], marks=pytest.mark.slow)


@pytest.mark.parametrize("command", [["ruff", "check"], ["ruff", "format", "--check"], MYPY], ids="-".join)
def test_lint_and_types(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=600, encoding="utf-8"
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]

"""The types of the browser's scripts hold, by the TypeScript compiler (see demos/tsconfig.json and inside_bert.d.ts).

It comes from npm when it is needed. Nothing is built: the scripts are plain JavaScript, in which a comment names a type
only where the compiler can't see it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from gradio import Blocks

from demos.page.delivery.first_views import FirstViews

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
DEMOS = ROOT / "demos"
COMPILER = "typescript@5.9.3"
OFFLINE = {"npm_config_fetch_retries": "0", "npm_config_fetch_timeout": "60000", "npm_config_prefer_offline": "true"}


def tsc(*options: str) -> subprocess.CompletedProcess[str]:
    npx = shutil.which("npx")
    if npx is None:
        pytest.skip("there is no node on this machine, and so no TypeScript")
    command = [npx, "--yes", "--package", COMPILER, "tsc", *options]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", env={**os.environ, **OFFLINE}, timeout=600, check=False
    )


def errors(folder: Path, script: str, *others: Path) -> tuple[list[str], set[Path]]:
    """(the errors, the files that were read) of a script beside `others` and the declarations."""
    if tsc("--version").returncode:
        pytest.skip(f"{COMPILER} could not be fetched from npm")
    (folder / "script.js").write_text(script, encoding="utf-8")
    included = ["script.js", *map(Path.as_posix, [*DEMOS.rglob("*.d.ts"), *others])]
    config = {"extends": (DEMOS / "tsconfig.json").as_posix(), "include": included}
    (folder / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
    lines = tsc("--project", str(folder), "--listFiles", "--pretty", "false").stdout.splitlines()
    found = [line for line in lines if re.match(r".*\(\d+,\d+\): error|error ", line)]
    return found, {Path(line) for line in lines if Path(line).is_absolute()}


def test_they_hold(built: tuple[Blocks, FirstViews], tmp_path: Path) -> None:
    """Those of all scripts, of the calls that Python writes into events, and of what each component runs."""
    scripts = [*DEMOS.rglob("*.js"), ROOT / "assets" / "bertviz" / "bridge.js"]
    calls = {event.js for event in built[0].fns.values() if isinstance(event.js, str)}
    bodies = {block.js_on_load for block in built[0].blocks.values() if getattr(block, "js_on_load", None)}
    assert len(scripts) > 50
    assert sum("insideBert." in call for call in calls) > 100
    functions = sorted(calls | {f"() => {{\n{body}\n}}" for body in bodies})
    found, read = errors(tmp_path, "".join(f"({function});\n" for function in functions), *scripts)
    assert not found, "\n".join(found)
    assert {*scripts} <= read


MISTAKES = """
insideBert.lnik.view();
insideBert.link.veiw();
insideBert.kept.hold("a store");
insideBert.kept.remember({ larg: true });
insideBert.ticks.moved("a name");
insideBert.link.view().texts;
insideBert.boxes = { all: () => [] };
document.querySelector("#a").textConten = "";
document.addEventListener("click", ({ target }) => target.closset("a"));
""".strip()


def test_mistakes_are_noticed(tmp_path: Path) -> None:
    """A name that is misspelled, and an argument or a value of another type: each line has one."""
    found, _ = errors(tmp_path, MISTAKES)
    lines = [int(match[1]) for line in found if (match := re.match(r"script\.js\((\d+),", Path(line).name))]
    assert lines == list(range(1, len(MISTAKES.splitlines()) + 1))
    assert len(found) == len(lines)

"""The project reads its own files alike where git has written their lines with the ends of Windows."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BINARY = {".safetensors", ".png", ".woff2", ".gz"}
READ = """
import hashlib, json, re
from app import build_pages
from demos.bert.attention.head_profiles import habit_sentences
from demos.bert.embeddings.word_senses import bundled_uses
from demos.bert.model.models import ModelStore
from demos.bert.pretraining.next_documents import our_documents
from demos.bert.pretraining.unigrams import project_texts
from demos.bert.tokens.cased import cased_tokenizer
from demos.files import ASSETS, read_text
from demos.page.head import script, style_sheet
from demos.page.questions.question_file import questions
from demos.page.services import Services
from demos.page.tours.tour_file import bundled_tours, read_tour
from demos.training.sources import SOURCES

services = Services(ModelStore(), "minilm")
read = {
    "page": build_pages(services).get_config_file() | {"app_id": 0},  # which is drawn
    "script": script(),
    "style sheet": style_sheet(),
    "tours": [repr(read_tour(file)) for file in bundled_tours()],
    "questions": sorted(map(repr, questions().values())),
    "sentences": [habit_sentences(), project_texts(), our_documents(), bundled_uses()],
    "cased": sorted(cased_tokenizer().get_vocab().items()),
    **{key: source.load() for key, source in SOURCES.items()},
}
named = lambda one: getattr(one, "__qualname__", None) or repr(one)
here = str(ASSETS.parent)
for name, value in read.items():
    text = json.dumps(value, default=named, sort_keys=True).replace(here, "")
    text = re.sub("[0-9a-f]{64}", "", text)  # a folder of Gradio's has the hash of a file's bytes as its name
    assert "\\\\r" not in text.replace("\\\\\\\\r", ""), name
    print(name, hashlib.sha256(text.encode()).hexdigest())
"""


def read_in(folder: Path) -> str:
    """A line for each thing that is read there."""
    done = subprocess.run([sys.executable, "-c", READ], cwd=folder, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3_000:]
    return done.stdout


@pytest.mark.slow
def test_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    shutil.copy(ROOT / "app.py", tmp_path)
    shutil.copy(ROOT / "requirements.txt", tmp_path)
    for name in ("demos", "assets"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    changed = 0
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.suffix not in BINARY:
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
            changed += 1
    assert changed > 500
    assert read_in(tmp_path).splitlines() == read_in(ROOT).splitlines()


def test_git_writes_them_as_they_are() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this copy of the project is no git checkout")
    command = ["git", "check-attr", "text", "eol", "--", "assets/data/emotion.tsv"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines()[1].endswith("eol: lf")

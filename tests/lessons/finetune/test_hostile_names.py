"""Classes and sentences that are script, formulas, of the other direction or very long, from the file to all that is
handed out."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from gradio.components.plot import PlotData
from markdown_it import MarkdownIt

from demos.bert.model.models import LoadedModel
from demos.lessons.finetune.export.model_zips import Zips
from demos.lessons.finetune.export.part import Export, zipped
from demos.lessons.finetune.results.part import ATTENTION, MAP, TRUST, WORDS, Results
from demos.lessons.finetune.runs.part import Runs, csv_file
from demos.lessons.finetune.train.controller import Trainer
from demos.page.services import Sentence, Services
from demos.training.form_values import shown_settings
from demos.training.settings import Settings
from tests.lessons.finetune.whole_run import whole_run
from tests.page.tiny_store import TinyStore

CLASSES = (
    '<img src=x onerror="alert(1)">',
    "=cmd|' /C calc'!A0",
    "\u202egnp.exe",
    '</script><a href="javascript:alert(1)">x</a>',
    "${alert(1)}{{7*7}}",
    "__proto__",
)
TEXTS = (
    '<svg onload="alert(1)"> {}',
    "=1+1 {}",
    "\u202e\u0645\u0631\u062d\u0628\u0627 {}",
    "w" * 10_000 + " {}",
    "a\x07b {}",
    "🙂 {}",
)
BAR = Sentence('<img src=x onerror="alert(1)">', "", "tiny")
CHOSEN = shown_settings(Settings(epochs=1, learning_rate=3e-3, batch_size=32, max_length=24))


class Tags(HTMLParser):
    """The names of the elements and attributes that a browser would make of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}
        self.found |= {"javascript" for _, value in attrs if (value or "").strip().startswith("javascript:")}


def strings(value: Any) -> Iterator[str]:
    """All texts in what a handler answers, those of figures among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from strings(one)
    elif isinstance(value, PlotData):
        yield from strings(json.loads(value.plot))


def harmful(value: Any) -> set[str]:
    """What of it would run or lead elsewhere."""
    tags = Tags()
    for text in strings(value):
        tags.feed(text)
        tags.close()
        tags.reset()
    return tags.found & {"img", "script", "svg", "a", "onerror", "onload", "javascript"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def ended(tiny: LoadedModel, home: Path) -> tuple[Services, dict[str, Any], list[dict[str, Any]]]:
    """(services, what the run's end changes on the page, all that it changed)."""
    services = Services(TinyStore.written(tiny, home / "tiny"), "tiny")
    table = home / "=cmd() <b>.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for number in range(120):
            writer.writerow([TEXTS[number % 6].format(number), CLASSES[number * 7 % 11 % 6]])
    picked = ("sentence", "file", str(table), None, "", "", 1_500)
    changes = list(whole_run(Trainer(services), picked, CHOSEN, ("<img src=x onerror=alert(1)>", "", ""), reader="a"))
    return services, changes[-1], changes


def test_what_is_shown_while_it_trains_and_after(ended: tuple[Services, dict[str, Any], list[dict[str, Any]]]) -> None:
    services, last, changes = ended
    assert last["kept"]
    assert any("onerror" in text for text in strings(last))
    assert harmful(changes) == set()
    for view in (MAP, ATTENTION, WORDS, TRUST):
        shown = Results().shown(services, BAR, after=view, run=last["kept"])
        shown.pop("after_error", None)  # a menu's choices, which Gradio shows as plain text
        assert harmful(shown) == set(), view


def test_what_is_handed_out(ended: tuple[Services, dict[str, Any], list[dict[str, Any]]], home: Path) -> None:
    services, last, _ = ended
    history = last["history"]
    assert harmful(Runs().shown(services, BAR, history=history)) == set()
    _, text = csv_file(BAR, history)
    for row in csv.reader(io.StringIO(text)):
        assert not any(re.match(r"\s*[=+@\t\r-]", cell) and not re.fullmatch(r"-?[\d.e+-]+", cell) for cell in row), row
    shown = Export().shown(services, BAR, run=last["kept"], history=history)
    card = shown.pop("card")
    rendered = MarkdownIt("commonmark").enable("table").render(card)
    assert harmful({**shown, "card": rendered}) == set()
    *_, done = zipped(services, Zips(home / "zips"), last["kept"], history)
    archive = Path(done["file"]["value"])
    assert re.fullmatch(r"[\w-]+\.zip", archive.name)
    with zipfile.ZipFile(archive) as packed:
        for name in packed.namelist():
            assert re.fullmatch(r"[\w-]+(/[\w.-]+)+/?", name)
            assert ".." not in name
        config = json.loads(packed.read(next(one for one in packed.namelist() if one.endswith("/config.json"))))
    assert sorted(config["id2label"].values()) == sorted(CLASSES)

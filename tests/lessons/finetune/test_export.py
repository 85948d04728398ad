"""The part "Keep it": before a run and after one, its zip, its card, its refusals; and nothing left on the disk."""

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.finetune.export import part as export
from demos.lessons.finetune.export.model_zips import MAX_ZIPS, Zips
from demos.lessons.finetune.export.part import Export, picked, recipe_file, taken, zipped
from demos.lessons.finetune.train.controller import Trainer
from demos.page.services import Sentence, Services
from demos.training.export.modeling_head import HeadForSequenceClassification
from demos.training.form_values import shown_settings
from demos.training.results.history import Record
from demos.training.settings import Settings
from tests.lessons.finetune.bare_page import TSV
from tests.lessons.finetune.whole_run import whole_run
from tests.one_line import flat
from tests.page.tiny_store import TinyStore

BAR = Sentence("", "", "tiny")
NO_MATTER: dict[str, Any] = {
    "time": "", "model": "Tiny", "kind": "sentence", "data": "films <b>.tsv", "examples": (1, 1, 1), "settings": {},
    "parameters": 1, "trainable": 1, "metric": "accuracy", "metrics": {"accuracy": 0.5}, "loss": 1.0, "steps": 1,
    "total_steps": 1, "stopped": "", "seconds": 1.0, "examples_per_second": 1.0, "device": "CPU",
    "precision": "float32", "threads": 1, "curve": (), "looks": (), "test": "",
}  # fmt: skip
CHOSEN = shown_settings(Settings(epochs=1, learning_rate=3e-3, batch_size=16, max_length=24))
Kept = tuple[Services, Zips, str]


@pytest.fixture
def kept(tiny: LoadedModel, tmp_path: Path) -> Kept:
    """After one run on the page: (the services, the zips, the run's id)."""
    files, upload = tmp_path / "tiny", tmp_path / "films <b>.tsv"
    tiny.model.save_pretrained(files)
    tiny.tokenizer.save_pretrained(files)
    upload.write_text(TSV, encoding="utf-8")
    services = Services(TinyStore(tiny, files), "tiny")
    films = ("sentence", "file", str(upload), None, "", "", 1_500)
    *_, last = whole_run(Trainer(services), films, CHOSEN)
    return services, Zips(tmp_path / "zips"), last["kept"]


def show(services: Services, run: str, history: Sequence[Record] = (), number: str = "") -> dict[str, Any]:
    return Export().shown(services, BAR, run=run, history=history, number=number)


def test_before_a_run_the_program_and_the_command_are_there_already(tiny: LoadedModel, tmp_path: Path) -> None:
    services = Services(TinyStore(tiny, tmp_path), "tiny")
    for run in ("", "made-up"):
        shown = show(services, run)
        assert (shown["number"]["choices"], shown["number"]["visible"]) == ([], False)
        assert "not trained a model yet" in shown["told"]
        assert (shown["button"]["interactive"], shown["file"]["visible"], shown["loaded"]) == (False, False, "")
        assert "SOURCES['emotion'].load" in shown["script"]
        assert shown["command"].startswith(
            "python -m demos.training --catalogue catalogue.json --model tiny --task sentence --data emotion"
        )
        assert "no model card before a run" in shown["card"]
        with pytest.raises(UserError):
            next(zipped(services, Zips(tmp_path), run))


def test_a_run_is_taken_away_whole_and_nothing_else_stays(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, zips, run = kept
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    shown = show(services, run)
    told, script, command, card = (shown[name] for name in ("told", "script", "command", "card"))
    assert "films &lt;b&gt;.tsv" in told
    assert shown["button"]["interactive"]
    assert "trust_remote_code=True" in shown["loaded"]  # the mean over the tokens is no stock class's
    assert "load_file('sentence', 'films <b>.tsv', None, settings.seed, 1500)" in script
    assert "threads=1" in script
    assert "'films <b>.tsv'" in command
    assert str(tmp_path) not in script + command + card + told
    assert "### films" in card
    assert "license:" not in card

    writing, packing, done = zipped(services, zips, run)
    assert writing == {"progress": "<p>Writing the model…</p>"}
    assert "Packing" in packing["progress"]
    assert done["progress"] == ""
    archive = Path(done["file"]["value"])
    assert (archive.parent.parent, archive.name) == (zips.home, "bert-films-b.zip")
    assert list((tmp_path / "temporary").iterdir()) == []
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path / "out")
    folder = tmp_path / "out" / "bert-films-b"
    model = HeadForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        inputs = AutoTokenizer.from_pretrained(folder)("a dull film", return_tensors="pt")
        found = model(**inputs).logits.softmax(dim=-1)[0].tolist()
    (expected,) = services.trainings.runs.predict(run, ["a dull film"])
    assert dict(zip(model.config.id2label.values(), found, strict=True)) == pytest.approx(expected, abs=1e-5)
    (again,) = zipped(services, zips, run)
    assert again["file"]["value"] == str(archive)  # not made twice

    trained, log = taken(services, run)
    for number in range(MAX_ZIPS):
        list(zips.steps(f"other {number}", trained, log))
    assert not archive.exists()
    assert len(list(zips.home.iterdir())) == MAX_ZIPS


def test_every_run_of_the_page_can_be_downloaded_until_the_oldest_has_to_go(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, zips, run = kept
    first = Record(run=run, number=1, **NO_MATTER)
    trainer, emotion = Trainer(services), ("sentence", "emotion", None, None, "", "", 60)
    monkeypatch.setattr("demos.training.service.readers.MAX_MODELS", 2)
    monkeypatch.setattr(export, "MAX_MODELS", 2)
    services.trainings.readers._histories.clear()
    services.trainings.readers.add("a reader", first)
    *_, second = whole_run(trainer, emotion, CHOSEN, reader="a reader")
    history = second["history"]
    shown = show(services, second["kept"], history)
    picker = shown["number"]
    assert [number for _, number in picker["choices"]] == ["2", "1"]
    assert picker["choices"][0][0].startswith("Run 2, the last: ")
    assert (picker["value"], picker["visible"]) == ("2", True)
    assert "Your last run" in shown["told"]
    for number, name in (("1", "bert-films-b.zip"), ("2", "bert-emotion.zip"), ("", "bert-emotion.zip")):
        *_, done = zipped(services, zips, second["kept"], history, number)
        assert Path(done["file"]["value"]).name == name
    shown = show(services, second["kept"], history, "1")
    assert shown["number"]["value"] == "1"
    assert "Your earlier run" in shown["told"]
    assert "### films" in shown["card"]
    assert "removed to free space" not in shown["told"]
    assert '"data": "file"' in recipe_file(services, BAR, second["kept"], history, "1")[1]

    *_, third = whole_run(trainer, emotion, CHOSEN, reader="a reader")
    history = third["history"]
    shown = show(services, third["kept"], history, "1")  # which is gone: the last is shown
    picker = shown["number"]
    assert ([number for _, number in picker["choices"]], picker["value"]) == (["3", "2"], "3")
    assert "The model of run 1 was removed to free space: this page keeps your last 2" in flat(shown["told"])
    with pytest.raises(UserError, match="no longer kept"):  # never another run's in its place
        next(zipped(services, zips, third["kept"], history, "1"))
    for reader in ([], [replace(first, run="made-up", number=2)]):
        assert picked("mine", reader, "3") == "mine"
    left = {path.name for path in services.trainings.runs.folder("any").parent.iterdir()}
    assert left == {record.run for record in history[1:]}


def test_a_full_disk_leaves_no_half_zip(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    services, zips, run = kept

    def full(folder: Path, archive: Path) -> None:
        archive.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("demos.lessons.finetune.export.model_zips.zip_folder", full)
    with pytest.raises(UserError, match="disk is full"):
        list(zipped(services, zips, run))
    assert list(zips.home.iterdir()) == []

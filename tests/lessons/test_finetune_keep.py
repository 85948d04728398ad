"""The part "Keep it": before a run and after one, its zip, its card, its refusals; and nothing left on the disk."""

from __future__ import annotations

import zipfile
from pathlib import Path

import gradio as gr
import pytest
import torch
from gradio.helpers import special_args
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from demos.bert.models import LoadedModel
from demos.errors import UserError
from demos.lessons.finetune import LESSON, keep
from demos.page.kept import MAX_ZIPS, Zips
from demos.page.lesson import Page
from demos.page.services import Sentence, Services
from demos.page.trainer import Trainer
from demos.training.asked import shown_settings
from demos.training.settings import Settings
from tests.lessons.test_finetune import TSV, TinyStore
from tests.page.whole_run import whole_run

BAR = Sentence("", "", "tiny")
CHOSEN = shown_settings(Settings(epochs=1, learning_rate=3e-3, batch_size=16, max_length=24, precision="float32"))


@pytest.fixture
def kept(tiny: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[keep.Keeper, str, Path]:
    """The part's handlers after one run on the page; (they, the run's id, where zips are put)."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    files, upload, zips = tmp_path / "tiny", tmp_path / "films <b>.tsv", tmp_path / "zips"
    tiny.model.save_pretrained(files)
    tiny.tokenizer.save_pretrained(files)
    upload.write_text(TSV)
    services = Services(TinyStore(tiny, files), "tiny")
    picked = ("sentence", "file", str(upload), None, "", 1_500)
    *_, last = whole_run(Trainer(services, services.workshop), picked, CHOSEN)
    return keep.Keeper(services, Zips(zips)), last["kept"], zips


def test_before_a_run_the_program_and_the_command_are_there_already(tiny: LoadedModel, tmp_path: Path) -> None:
    keeper = keep.Keeper(Services(TinyStore(tiny, tmp_path), "tiny"), Zips(tmp_path))
    for run in ("", "made-up"):
        told, button, file, loaded, script, command, card = keeper.show(BAR, run)
        assert "not trained a model yet" in told
        assert (button["interactive"], file["visible"], loaded) == (False, False, "")
        assert "SOURCES['emotion'].load" in script
        assert command.startswith(
            "python -m demos.training --catalogue catalogue.json --model tiny --task sentence --data emotion"
        )
        assert "none before a run" in card
        with pytest.raises(UserError):
            next(keeper.zipped(run))


def test_a_run_is_taken_away_whole_and_nothing_else_stays(
    kept: tuple[keep.Keeper, str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, run, home = kept
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    told, button, _, loaded, script, command, card = keeper.show(BAR, run)
    assert "films &lt;b&gt;.tsv" in told
    assert button["interactive"]
    assert "as BertForSequenceClassification" in loaded
    assert "load_file('sentence', 'films <b>.tsv', None, settings.seed, 1500)" in script
    assert "threads=1" in script
    assert "'films <b>.tsv'" in command
    assert str(tmp_path) not in script + command + card + told
    assert "### films" in card
    assert "license:" not in card

    *said, (_, file) = keeper.zipped(run)
    assert next(words for words, _ in said) == "<p>Writing the model…</p>"
    assert "Packing" in said[1][0]
    archive = Path(file["value"])
    assert (archive.parent.parent, archive.name) == (home, "bert-films-b.zip")
    assert list((tmp_path / "temporary").iterdir()) == []
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path / "out")
    folder = tmp_path / "out" / "bert-films-b"
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        inputs = AutoTokenizer.from_pretrained(folder)("a dull film", return_tensors="pt")
        found = model(**inputs).logits.softmax(dim=-1)[0].tolist()
    (expected,) = keeper.services.workshop.runs.predict(run, ["a dull film"])
    assert dict(zip(model.config.id2label.values(), found, strict=True)) == pytest.approx(expected, abs=1e-5)
    ((_, again),) = keeper.zipped(run)
    assert again["value"] == str(archive)  # not made twice

    trained, log = keeper.found(run)
    for number in range(MAX_ZIPS):
        list(keeper.zips.steps(f"other {number}", trained, log))
    assert not archive.exists()
    assert len(list(home.iterdir())) == MAX_ZIPS


def test_a_full_disk_leaves_no_half_zip(kept: tuple[keep.Keeper, str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, run, home = kept

    def full(folder: Path, archive: Path) -> None:
        archive.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("demos.page.kept.zip_folder", full)
    with pytest.raises(UserError, match="disk is full"):
        list(keeper.zipped(run))
    assert list(home.iterdir()) == []


def test_a_push_needs_a_sign_in_and_only_a_space_offers_one(
    kept: tuple[keep.Keeper, str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, run, _ = kept
    with pytest.raises(UserError, match="Sign in"):
        keeper.pushed(run, "my-model", False, None)
    monkeypatch.setattr(keep, "push", lambda folder, name, token, private: f"https://hub.invalid/{name}?{private}<")
    shown = keeper.pushed(run, "my-model", False, "secret")
    assert 'href="https://hub.invalid/my-model?True&lt;"' in shown
    monkeypatch.delenv("SPACE_ID", raising=False)
    monkeypatch.setenv("OAUTH_CLIENT_ID", "client")
    assert not keep.signs_in()
    monkeypatch.setenv("SPACE_ID", "ada/bert")
    monkeypatch.setattr(keep, "find_spec", lambda name: None)
    assert not keep.signs_in()
    monkeypatch.setattr(keep, "find_spec", lambda name: name)
    assert keep.signs_in()


def test_on_a_space_gradio_fills_in_the_token_of_who_signed_in(
    kept: tuple[keep.Keeper, str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, run, _ = kept
    monkeypatch.setattr(keep, "signs_in", lambda: True)
    monkeypatch.setattr("gradio.routes.attach_oauth", lambda app: None)  # a Space's own part
    with gr.Blocks() as demo:
        box = gr.Textbox
        page = Page(
            LESSON, keeper.services, box(), box(), box(), box(), box(), gr.Column(), trained=gr.State("")
        )  # fmt: skip
        keep.build(page)
    push_mine = next(one.fn for one in demo.fns.values() if getattr(one.fn, "__name__", "") == "push_mine")
    assert any(isinstance(block, gr.LoginButton) for block in demo.blocks.values())
    inputs, *_ = special_args(push_mine, [run, "my-model", False], None, None)
    assert inputs == [run, "my-model", False, None]  # nobody is signed in
    assert "Sign in" in push_mine(*inputs)

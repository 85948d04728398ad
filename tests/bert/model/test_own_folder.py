"""A model in a folder or a zip that the app is started with: its numbers are transformers' own, and what is refused."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from app import main
from demos.bert.model.catalogue import BUNDLED, CATALOGUE, FolderSpec
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel, ModelStore, default_key
from demos.bert.model.own_folder import read_catalogue, with_folder
from demos.bert.model.run import run_model
from demos.errors import UserError
from demos.figures.program import begin
from demos.training.export.recipe_file import Recipe
from demos.training.export.script import command_of
from demos.training.export.transformers_folder import export
from demos.training.tasks.classification.task import Classification
from tests.bert.model.many_models import edit_json, in_several_files, write_bert, write_distilbert
from tests.bert.model.other_encoders import write_encoder
from tests.training.export.test_transformers_folder import trained_on

ROOM = 1e9


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    return write_bert(tmp_path / "my model")


def test_its_states_are_transformers_own_from_a_folder_a_zip_and_several_files(folder: Path, tmp_path: Path) -> None:
    inputs = AutoTokenizer.from_pretrained(folder)("The bank raised its rates.", return_tensors="pt")
    with torch.no_grad():
        expected = AutoModel.from_pretrained(folder).eval()(**inputs).last_hidden_state[0]
    (tmp_path / "zips").mkdir()
    archive = shutil.make_archive(str(tmp_path / "zips" / "packed"), "zip", tmp_path, folder.name)
    several = shutil.copytree(folder, tmp_path / "several")
    in_several_files(several)
    for path in (folder, Path(archive), several):
        catalogue = with_folder(CATALOGUE, path, ROOM)
        key = default_key(catalogue)
        spec = catalogue[key]
        assert isinstance(spec, FolderSpec)
        assert key == f"folder-{path.stem.replace(' ', '-')}"
        assert (spec.num_layers, spec.num_heads, spec.width, spec.mlm, spec.nsp) == (2, 4, 32, True, True)
        loaded = ModelStore(catalogue).get(key)
        (run,) = run_model(loaded, [encode(loaded.tokenizer, "The bank raised its rates.")])
        torch.testing.assert_close(torch.tensor(run.hidden_states[-1]), expected, atol=1e-5, rtol=0)


def test_a_model_that_the_page_exported_is_its_encoder_and_none_of_its_code_is_run(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    for pooling, hidden in (
        ("mean", ()),
        ("cls", (tiny.model.config.hidden_size,)),
    ):  # a class of ours, and a stock one
        task = Classification(("no", "yes"), pooling=pooling, hidden=hidden).fitted(24)
        form = export(trained_on(task, tiny.model, tiny.tokenizer), tmp_path / pooling)
        assert bool(form.why_own) == (pooling == "mean")
        for code in (tmp_path / pooling).glob("*.py"):
            code.write_text("raise SystemExit", encoding="utf-8")
        catalogue = with_folder(CATALOGUE, tmp_path / pooling, ROOM)
        loaded = ModelStore(catalogue).get(f"folder-{pooling}")
        (run,), (expected,) = (
            run_model(model, [encode(tiny.tokenizer, "The river bank.")]) for model in (loaded, tiny)
        )
        assert (run.hidden_states == expected.hidden_states).all()
        where = "a folder with the model's encoder and tokenizer" if form.why_own else "the model's folder"
        assert f"name, revision = {pooling!r}, None  # {where}" in begin(loaded.spec, "'x'")


def test_its_program_and_its_command_name_the_folder_alone(folder: Path, tmp_path: Path) -> None:
    (spec, *_) = read_catalogue(folder).values()
    program = begin(spec, repr("The bank."))
    assert "name, revision = 'my-model', None" in program
    assert str(tmp_path) not in program
    folder.rename(tmp_path / "my-model")
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "--catalogue my-model --model folder-my-model" in command_of(Recipe(model=spec.key))


def test_other_encoders_are_in_the_menu_and_the_page_opens_with_another_model(tmp_path: Path) -> None:
    catalogue = with_folder(CATALOGUE, write_distilbert(tmp_path / "distil"), ROOM)
    assert default_key(catalogue) == "folder-distil"
    roberta = write_encoder("roberta", tmp_path / "roberta")
    assert default_key(with_folder(CATALOGUE, roberta, ROOM)) in (BUNDLED, "bert-base-uncased")


def test_what_cannot_be_opened_is_refused_in_one_sentence(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    def refuses(path: Path, words: str) -> None:
        with subtests.test(words), pytest.raises(UserError, match=words) as raised:
            with_folder(CATALOGUE, path, ROOM)
        assert len(str(raised.value).rstrip(".").split(". ")) == 1

    refuses(tmp_path / "nowhere", "can't be read")
    (tmp_path / "empty").mkdir()
    refuses(tmp_path / "empty", "no model.safetensors")
    (tmp_path / "broken.zip").write_bytes(b"PK no zip")
    refuses(tmp_path / "broken.zip", "can't be read")
    code = shutil.copytree(folder, tmp_path / "code")
    edit_json(code / "config.json", auto_map={"AutoModel": "mine.Model"})
    refuses(code, "its own program code")
    cut = shutil.copytree(folder, tmp_path / "cut")
    (cut / "model.safetensors").write_bytes((cut / "model.safetensors").read_bytes()[:100])
    refuses(cut, "is no safetensors file")
    other = shutil.copytree(folder, tmp_path / "other")
    edit_json(other / "config.json", hidden_size=64)
    refuses(other, "has another shape")
    assert main(["--model-folder", str(tmp_path / "nowhere")]) == 2
    assert "can't be read" in capsys.readouterr().err

"""The picker of a file: what it offers is read, what it does not offer is refused in one sentence."""

from pathlib import Path

import pytest
from gradio.data_classes import FileData

from demos.errors import UserError
from demos.training.data.file_tables import TABLES
from demos.training.sources import READERS
from demos.widgets.file_picker.file_picker import file_picker

OTHERS = (".parquet", ".docx", ".xls", ".zip", ".conll", ".exe")


@pytest.mark.parametrize("kind", READERS)
def test_each_task_reads_the_endings_that_its_picker_offers_and_no_other(kind: str) -> None:
    reader = READERS[kind]
    assert set(TABLES) <= set(reader.endings)
    for ending in {*reader.endings, *OTHERS}:
        with pytest.raises(UserError) as refused:
            reader.read(b"", f"a{ending}")
        assert ("can't be read; use" in str(refused.value)) == (ending not in reader.endings)


def test_the_dialog_is_told_the_endings_and_gradio_takes_a_name_without_one(tmp_path: Path) -> None:
    picker = file_picker("CSV", (".csv", ".xlsx"))
    assert picker.elem_classes == ["file-picker", "reads-csv", "reads-xlsx", "reads-zip"]
    (tmp_path / "data").write_text("text,label\n", encoding="utf-8")
    assert picker.preprocess(FileData(path=str(tmp_path / "data"))) == str(tmp_path / "data")

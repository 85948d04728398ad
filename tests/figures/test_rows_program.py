"""The lines of a program that read a reader's pairs again: from every form, what the page has read."""

import json
from pathlib import Path
from typing import Any

import pytest

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.figures.program import rows_lines
from demos.training.data.rated_pairs import read_pairs
from tests.training.data.made_files import table
from tests.training.data.workbook_files import workbook

NAMES = ("sentence1", "sentence2", "score")
ROWS = [(f"Zoë’s dog, {n}.", f"A cat; {n}.", n % 6 / 2) for n in range(8)]
COMMAS = [(first.replace(";", ","), second.replace(";", ","), f"{n},5") for n, (first, second, _) in enumerate(ROWS)]
RECORDS = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
QUOTED = "".join(f'"{first}","{second}",{score}\n' for first, second, score in ROWS)
FORMS = {
    "a.csv": (",".join(NAMES) + "\n" + QUOTED).encode("cp1252"),
    "b.csv": ("sep=;\r\n" + table(COMMAS, NAMES, ";")).encode("cp1252"),
    "c.csv": ('"sep=|"\n' + table(ROWS, NAMES, "|")).encode("utf-8-sig"),
    "d.csv": QUOTED.replace("\n", "\r").encode("cp1252"),
    "e.txt": table(ROWS, NAMES, "\t").encode("utf-16"),
    "f.jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in RECORDS).encode("utf-16"),
    "g.json": json.dumps(RECORDS, indent=2).encode(),
    "h.json": json.dumps({"n": 8, "pairs": RECORDS}, indent=1).encode("utf-8-sig"),
    "i.jsonl": "\n".join(json.dumps(row, indent=2) for row in RECORDS).encode(),
    "j.xlsx": workbook([NAMES, *ROWS]),
    "k.xlsx": workbook([NAMES, (), *COMMAS]),
    "without an ending": table(COMMAS, NAMES, ";").encode(),
}


MASKED = [(f"Zoë’s [mask], {n}.", f"A [Mask] or [MASK]; {n}.", n % 6 / 2) for n in range(8)]
MASKED_FORMS = {
    "a.tsv": table(MASKED, NAMES, "\t").encode(),
    "b.jsonl": "\n".join(json.dumps(dict(zip(NAMES, row, strict=True))) for row in MASKED).encode(),
    "c.jsonl": "\n".join(json.dumps(dict(zip(NAMES, row, strict=True)), indent=2) for row in MASKED).encode(),
    "d.xlsx": workbook([NAMES, *MASKED]),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_program_reads_the_file_as_the_page_does(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rated = read_pairs(FORMS[name], name)
    (tmp_path / name).write_bytes(FORMS[name])
    monkeypatch.chdir(tmp_path)
    imports, lines = rows_lines(rated.name, rated.form)
    found: dict[str, Any] = {}
    exec(imports + lines, found)
    pairs = [(pair.first, pair.second, pair.score) for pair in rated.pairs]
    assert list(zip(found["first"], found["second"], found["scores"], strict=True)) == pairs
    assert len(pairs) == len(ROWS)
    assert pairs[1][0].startswith("Zoë’s dog")


@pytest.mark.parametrize("name", MASKED_FORMS)
def test_a_mask_in_small_letters_is_one_token_for_the_program_too(
    name: str, tiny: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes(MASKED_FORMS[name])
    monkeypatch.chdir(tmp_path)
    imports, lines = rows_lines(name, read_pairs(MASKED_FORMS[name], name).form)
    found: dict[str, Any] = {}
    exec(imports + lines, found)
    for texts, typed in zip((found["first"], found["second"]), zip(*MASKED, strict=True), strict=False):
        tokens = [encode(tiny.tokenizer, text).input_ids for text in typed]  # the page's
        assert [tuple(ids) for ids in tiny.tokenizer(texts)["input_ids"]] == tokens
    assert "re.sub" not in rows_lines("a.csv", read_pairs(FORMS["a.csv"], "a.csv").form)[1]

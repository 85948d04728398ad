"""The part "Maps" from its handlers: the opening view, [CLS] against mean, tokens, files, and what can't be mapped."""

import re
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
from demos.lessons.embeddings.maps.part import Maps
from demos.page.services import Sentence, Services
from demos.page.view import On
from tests.lessons.embeddings.answers import as_read
from tests.one_line import plain
from tests.programs import printed

OPENING = {"map_method": "pca", "map_lines": "A bank.\nThe river bank.", "map_point": 4}
SENTENCE = Sentence("The moon is full.", "", "minilm")


def shown(services: Services, **changes: Any) -> dict[str, Any]:
    drawn = Maps().shown(services, SENTENCE, **(OPENING | changes))
    return {name: as_read(value) for name, value in drawn.items()}


def looked_up(services: Services, text: str) -> str:
    on = On(services, SENTENCE)
    return str(part.look_up(on, Maps().read(on, OPENING | {"map_method": "tsne", "find": text}))["list"])


@pytest.mark.slow
def test_the_opening_map_and_a_point_marked_on_it(services: Services) -> None:
    of = shown(services, map_method="tsne")
    assert sum(len(one.customdata or []) for one in of["plot"].data) == 320
    shares = re.search(r"(\d+)% → (\d+)%", of["summary"])
    assert shares
    assert int(shares[1]) == 64  # as library.md says
    assert int(shares[2]) > 70  # t-SNE's map is tidier than the vectors
    marked = shown(services, map_method="tsne", map_point=17)
    assert 'data-point="17"' not in marked["list"]
    assert marked["plot"].data[-1].x[0] != of["plot"].data[-1].x[0]
    rows = [int(row) for row in re.findall(r'data-point="(\d+)"', looked_up(services, "The MOON"))]
    names = bundled_list("library").sentences
    assert rows == [row for row, name in enumerate(names) if "moon" in name.lower() and "the" in name.lower()] != []
    assert "0 of 320 sentences contain “&lt;b&gt;”:" in plain(looked_up(services, "<b>"))
    for nowhere in (-1, 320):
        assert "Click a point" in shown(services, map_point=nowhere)["list"]


def test_the_program_prints_what_the_page_says(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("sentences.tsv")
    listed = bundled_list("library")
    rows = list(zip(listed.topics, listed.sentences, strict=True))[:24]
    file.write_text(
        "topic\tsentence\n" + "".join(f"{topic}\t{sentence}\n" for topic, sentence in rows), encoding="utf-8"
    )
    of = shown(services, map_sentences="file", file=str(file), map_own="It's my own.")
    numbers = re.findall(r"\d+\.\d+", "\n".join(printed(of["program"])))
    first, second, trust = map(float, numbers)
    variance = re.search(r"axes: ([\d.]+)% \+ ([\d.]+)%", of["summary"])
    told = re.search(r"<td>PCA</td><td>([\d.]+)</td>", of["numbers"])
    assert variance
    assert told
    assert [100 * first, 100 * second] == pytest.approx([float(one) for one in variance.groups()], abs=0.06)
    assert trust == pytest.approx(float(told[1]), abs=0.002)


def test_all_three_maps_are_measured_and_another_point_leaves_them(services: Services) -> None:
    on = On(services, SENTENCE)
    *_, measured = part.measure_all(on, Maps().read(on, OPENING | {"map_of": "token"}))
    assert re.findall(r"<td>(PCA|t-SNE|UMAP)</td>", as_read(measured["numbers"])) == ["PCA", "t-SNE", "UMAP"]
    (numbers,) = (drawing for drawing in Maps().drawings() if drawing.outputs == ("numbers",))
    assert not {"map_point", "map_token", "find"} & {*numbers.by}


def test_tokens_by_line_and_by_layer(services: Services) -> None:
    tokens = shown(services, map_of="token")
    assert [one.name for one in tokens["plot"].data if one.customdata] == [
        "1 A bank.", "2 The river bank.", "[CLS] and [SEP]",
    ]  # fmt: skip
    layers = shown(services, map_of="layers", map_token=13)
    assert sum(len(one.customdata or []) for one in layers["plot"].data) == 7 * 11
    assert re.findall(r'aria-current="true".*?layer (\d)', layers["list"]) == ["1"]  # the third token's, 11 to a layer
    lines = "\n".join(printed(layers["program"]))
    assert lines.startswith("77 points; variance")
    first = re.search(r"axes: ([\d.]+)%", layers["summary"])
    assert first
    assert 100 * float(re.findall(r"0\.\d+", lines)[0]) == pytest.approx(float(first[1]), abs=0.06)


def test_a_list_of_one_s_own_the_bar_and_errors(services: Services, tmp_path: Path) -> None:
    assert shown(services, map_sentences="file")["status"] == as_read(part.TEXT.awaited())
    file = tmp_path / "mine.csv"
    mine: dict[str, Any] = {"map_sentences": "file", "file": str(file)}
    rows = [f"row number {number},{number % 3}" for number in range(9)]
    file.write_text("text,label\n" + "\n".join(rows) + "\n${x} <b>,1\n", encoding="utf-8")
    own = {"map_own": "My own 🙂 line.\nrow number 4", "map_bar": True, "map_point": 11, "map_method": "tsne"}
    of = shown(services, **mine, **own)
    diamonds = [one for one in of["plot"].data if one.marker.symbol == "diamond"]
    assert [list(one.customdata) for one in diamonds] == [[4], [10, 11]]  # one is in the file; the bar's, the box's
    assert sum(len(one.customdata or []) for one in of["plot"].data) == 12
    assert "My own 🙂 line." in of["list"]
    file.write_text("text,label\nonly one,1\n", encoding="utf-8")
    alone = shown(services, **mine, map_point=0)
    assert sum(len(one.customdata or []) for one in alone["plot"].data) == 1
    for changes, said in (
        ({"map_of": "token", "map_lines": " \n"}, "contains no sentence"),
        ({"map_of": "token", "map_lines": "a\n" * 13}, "limit for a map of tokens is 12"),
        ({"map_of": "layers", "map_lines": "word " * 500}, "points"),
        ({"map_sentences": "file", "file": str(tmp_path / "gone.csv")}, "could not be read"),
    ):
        with pytest.raises(UserError, match=said):
            shown(services, **changes)
    assert len(shown(services, map_sentences="other")["plot"].data) == len(shown(services)["plot"].data)
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

    of = shown(Services(Small(), "tiny"), map_of="layers")
    assert "layer 2" in of["numbers"]
    assert sum(len(one.customdata or []) for one in of["plot"].data) == 3 * 11
    assert of["map_layer"]["choices"][0] == ("last (layer 2)", "last")
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

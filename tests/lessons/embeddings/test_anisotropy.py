"""The shape part's handlers on the bundled model: what the page claims of it, and the program that agrees."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from demos.bert.model.models import LoadedModel, ModelStore
from demos.lessons.embeddings.anisotropy import part as shape
from demos.page.services import Sentence, Services
from demos.training.data.lists import Listed
from demos.training.data.rated_pairs import Rated, our_pairs
from tests.lessons.embeddings.answers import as_read
from tests.programs import printed


@pytest.fixture(scope="module")
def services(store: ModelStore) -> Iterator[Services]:
    """On fewer sentences than the page takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shape, "SAMPLE", 40)
        few = Listed(shape.our_library().sentences[:60])
        patch.setattr(shape, "our_library", lambda: few)
        yield Services(store, "minilm")


def shown(services: Services, layer: int, vectors: str, followed: str = "") -> dict[str, Any]:
    """What the page shows in the end."""
    sentence = Sentence("", "", services.default_model)
    page = shape.Shape().shown(services, sentence, shape_layer=layer, shape_vectors=vectors, followed=followed)
    return {name: as_read(value) for name, value in page.items()}


def test_the_picture_tells_what_its_program_prints(services: Services) -> None:
    page = shown(services, 5, "words")
    curve, dimensions, numbers = page["curve"], page["dimensions"], page["numbers"]
    line = next(trace for trace in curve.data if trace.name == "words")
    lines = printed(page["program"])
    assert [float(one.split()[1]) for one in lines if not one.startswith(" ")] == pytest.approx(line.y, abs=2e-4)
    adds = {int(one.split()[1]): float(one.split()[3]) for one in lines if one.startswith(" ")}
    bars = dimensions.data[1].y
    assert {at: bars[at] for at in adds} == pytest.approx(adds, abs=2e-4)
    assert sorted(adds, key=adds.__getitem__)[-1] == 223
    assert "Dimension <b>223</b> alone" in page["summary"]
    assert "40 sentences on ten topics" in page["sampled"]
    heads = re.findall(r'<th scope="col">([^<]*)</th>', numbers)
    fifth = re.findall(r"<td>([^<]*)</td>", numbers.split('<th scope="row">5</th>')[1].split("</tr>")[0])
    for name in ("sentences (mean)", "words", "[CLS]"):  # each number stands under its name
        drawn = next(trace for trace in curve.data if trace.name == name)
        assert float(fifth[heads.index(f"{name}: mean cosine") - 1]) == pytest.approx(drawn.y[5], abs=1e-4)
    assert sum(page["cosines"].data[1].y) == pytest.approx(100, abs=0.2)
    assert [trace.name for trace in page["norms"].data][-1] == "[SEP]"
    assert page["doing"] == ""


def test_what_the_page_says_of_the_bundled_model_is_so(services: Services) -> None:
    page = shown(services, 5, "mean")
    y = {trace.name: trace.y for trace in page["curve"].data}
    assert min(y["sentences (mean)"][1:6]) > 0.55  # strangers look alike in the middle
    assert y["sentences (mean)"][6] < 0.15  # and no longer where it was trained on pairs
    assert y["the same, 3 dimensions removed"][5] < 0.4  # three dimensions made much of it
    assert min(y["[CLS]"][:6]) > 0.999 > 0.7 > y["[CLS]"][6]
    assert int(max(range(7), key=y["words"].__getitem__)) == shape.FIRST_LAYER  # so the slider need not move at first
    assert "mean cosine of two sentences" in page["summary"]
    assert "sum(dim=1) / mask.sum(dim=1)" in page["program"]
    rho = dict(zip(page["scores"].data[0].y, page["scores"].data[0].x, strict=True))
    assert rho["3 dimensions removed"] > rho["unchanged"] + 0.02
    assert rho["whitened, 64 axes"] > rho["unchanged"] + 0.02
    assert "the best correction is" in page["worth"]
    assert len(re.findall("<tr>", page["gains"])) == 7
    worth = shown(services, 99, "mean")["worth"]  # beyond the end is the last layer
    assert "mean, layer 6:</b> no correction is clearly better" in worth


def test_the_layer_is_the_models_own_until_a_reader_moves_it(services: Services) -> None:
    page = shown(services, 2, "words", "other 2")
    words = next(trace for trace in page["curve"].data if trace.name == "words").y
    most = int(max(range(7), key=words.__getitem__))
    assert (page["shape_layer"], page["followed"]) == ({"value": most}, f"minilm {most}")
    assert f"mean, layer {most}:" in page["worth"]
    page = shown(services, 2, "words", "other 3")  # moved by hand there
    assert (page["shape_layer"], page["followed"]) == ({"value": 2}, "minilm moved")
    assert "mean, layer 2:" in page["worth"]


def test_cls_below_the_first_layer_is_one_vector_and_the_page_says_so(services: Services) -> None:
    page = shown(services, 0, "cls")
    assert "The vector is the same in every sentence" in page["summary"]
    assert page["scores"] is None
    assert page["gains"] == ""
    assert "have no spread" in page["worth"]
    assert "on average" in shown(services, 2, "cls")["summary"]


def test_another_model_and_a_stranger_choice(
    tiny: LoadedModel, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = Rated(our_pairs().pairs[:40], "", our_pairs().form)
    monkeypatch.setattr(shape, "our_pairs", lambda: some)

    class One(ModelStore):
        def spec(self, key: str) -> Any:
            return tiny.spec

        def get(self, key: str) -> LoadedModel:
            return tiny

    page = shown(Services(One(), "tiny"), 40, "nobody's")
    assert len(page["dimensions"].data[1].y) == 32
    assert page["shape_layer"] == {"value": 2}
    assert len(page["scores"].data[0].y) == 6
    assert "mean, layer 2:" in page["worth"]

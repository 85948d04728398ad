"""The shape part's handlers on the bundled model: what the page claims of it, and the program that agrees."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from demos.bert.model.models import LoadedModel, ModelStore
from demos.lessons.embeddings.anisotropy import part as shape
from demos.page.services import Services
from demos.training.data.lists import Listed
from demos.training.data.rated_pairs import Rated, our_pairs
from tests.lessons.embeddings.answers import answering, recorded
from tests.programs import printed

MODEL = ("", "", "minilm")
Handlers = list[Callable[..., Any]]


def handlers_of(services: Services) -> Handlers:
    return [answering(one.handler, one.outputs) for one in recorded(services, shape.PART.build).wired]


@pytest.fixture(scope="module")
def handlers(store: ModelStore) -> Any:
    """`show` and `judge`, on fewer sentences than the page takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shape, "SAMPLE", 40)
        few = Listed(shape.our_library().sentences[:60])
        patch.setattr(shape, "our_library", lambda: few)
        yield handlers_of(Services(store, "minilm"))


def last(steps: Any) -> list[Any]:
    *_, end = steps
    return end  # type: ignore[no-any-return]


def test_the_picture_tells_what_its_program_prints(handlers: Handlers) -> None:
    show = handlers[0]
    curve, cosines, dimensions, norms, told, sampled, numbers, code, _slider, _seen, doing = last(
        show(*MODEL, 5, "words")
    )
    line = next(trace for trace in curve.data if trace.name == "words")
    lines = printed(code)
    assert [float(one.split()[1]) for one in lines if not one.startswith(" ")] == pytest.approx(line.y, abs=2e-4)
    adds = {int(one.split()[1]): float(one.split()[3]) for one in lines if one.startswith(" ")}
    bars = dimensions.data[1].y
    assert {at: bars[at] for at in adds} == pytest.approx(adds, abs=2e-4)
    assert sorted(adds, key=adds.__getitem__)[-1] == 223
    assert "Dimension <b>223</b> alone" in told
    assert "40 sentences on ten topics" in sampled
    heads = re.findall(r'<th scope="col">([^<]*)</th>', numbers)
    fifth = re.findall(r"<td>([^<]*)</td>", numbers.split('<th scope="row">5</th>')[1].split("</tr>")[0])
    for name in ("sentences (mean)", "words", "[CLS]"):  # each number stands under its name
        drawn = next(trace for trace in curve.data if trace.name == name)
        assert float(fifth[heads.index(f"{name}: mean cosine") - 1]) == pytest.approx(drawn.y[5], abs=1e-4)
    assert sum(cosines.data[1].y) == pytest.approx(100, abs=0.2)
    assert [trace.name for trace in norms.data][-1] == "[SEP]"
    assert doing == ""


def test_what_the_page_says_of_the_bundled_model_is_so(handlers: Handlers) -> None:
    show, judge = handlers
    curve, *_, told, _sampled, _numbers, code, _slider, _seen, _doing = last(show(*MODEL, 5, "mean"))
    y = {trace.name: trace.y for trace in curve.data}
    assert min(y["sentences (mean)"][1:6]) > 0.55  # strangers look alike in the middle
    assert y["sentences (mean)"][6] < 0.15  # and no longer where it was trained on pairs
    assert y["the same, 3 dimensions removed"][5] < 0.4  # three dimensions made much of it
    assert min(y["[CLS]"][:6]) > 0.999 > 0.7 > y["[CLS]"][6]
    assert int(max(range(7), key=y["words"].__getitem__)) == shape.FIRST_LAYER  # so the slider need not move at first
    assert "mean cosine of two sentences" in told
    assert "sum(dim=1) / mask.sum(dim=1)" in code
    bars, table, worth = last(judge(*MODEL, 5, "mean"))
    rho = dict(zip(bars.data[0].y, bars.data[0].x, strict=True))
    assert rho["3 dimensions removed"] > rho["unchanged"] + 0.02
    assert rho["whitened, 64 axes"] > rho["unchanged"] + 0.02
    assert "the best correction is" in worth
    assert len(re.findall("<tr>", table)) == 7
    _, _, worth = last(judge(*MODEL, 99, "mean"))  # beyond the end is the last layer
    assert "mean, layer 6:</b> no correction is clearly better" in worth


def test_the_layer_is_the_models_own_until_a_reader_moves_it(handlers: Handlers) -> None:
    show, judge = handlers
    curve, *_, slider, seen, _ = last(show(*MODEL, 2, "words", "other 2"))
    words = next(trace for trace in curve.data if trace.name == "words").y
    most = int(max(range(7), key=words.__getitem__))
    assert (slider["value"], seen) == (most, f"minilm {most}")
    assert f"mean, layer {most}:" in last(judge(*MODEL, 2, "mean", "other 2"))[2]
    *_, slider, seen, _ = last(show(*MODEL, 2, "words", "other 3"))  # moved by hand there
    assert ("value" in slider, seen) == (False, "minilm moved")
    assert "mean, layer 2:" in last(judge(*MODEL, 2, "mean", "other 3"))[2]


def test_cls_below_the_first_layer_is_one_vector_and_the_page_says_so(handlers: Handlers) -> None:
    show, judge = handlers
    assert "The vector is the same in every sentence" in last(show(*MODEL, 0, "cls"))[4]
    bars, table, worth = last(judge(*MODEL, 0, "cls"))
    assert bars is None
    assert table == ""
    assert "have no spread" in worth
    assert "on average" in last(show(*MODEL, 2, "cls"))[4]


def test_another_model_and_a_stranger_choice(
    tiny: LoadedModel, handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = Rated(our_pairs().pairs[:40], "", our_pairs().form)
    monkeypatch.setattr(shape, "our_pairs", lambda: some)

    class One(ModelStore):
        def spec(self, key: str) -> Any:
            return tiny.spec

        def get(self, key: str) -> LoadedModel:
            return tiny

    wired = handlers_of(Services(One(), "tiny"))
    drawn = last(wired[0]("", "", "tiny", 40, "nobody's"))
    assert len(drawn[2].data[1].y) == 32
    assert drawn[8]["maximum"] == 2
    assert drawn[8]["value"] == 2
    scores, _, worth = last(wired[1]("", "", "tiny", 40, "nobody's"))
    assert len(scores.data[0].y) == 6
    assert "mean, layer 2:" in worth

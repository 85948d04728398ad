"""Mix the layers on a tiny model: what is shown before, while and after, and the program, which must agree."""

import html
from dataclasses import replace
from pathlib import Path

import pytest

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.finetune.layer_mix.figure import mix_code
from demos.lessons.finetune.layer_mix.part import LayerMix, TrainedResults, tagged, trained
from demos.lessons.finetune.layer_mix.text import after_html, scores_html
from demos.page.services import Sentence, Services
from demos.training import bilstm_tagger
from demos.training.layer_mix import FIXED, MIX, Comparison, Step
from demos.training.tasks.entities.scores import EntityScore
from tests.page.tiny_store import TinyStore
from tests.plotly_figure import plotly
from tests.programs import printed
from tests.shown_values import with_values

shown = with_values(LayerMix().shown)


def comparison(mix: float, by_hand: list[float]) -> Comparison:
    scores = {name: EntityScore("", 0.5, 0.5, f1, 10, 10, 5) for name, f1 in zip(FIXED, by_hand, strict=True)}
    steps = (Step(0, (0.5, 0.5), 1.0, 2.0), Step(10, (0.25, 0.75), 1.5, 0.125))
    return Comparison(
        scores | {MIX: EntityScore("", 0.5, 0.5, mix, 10, 10, 5)}, dict.fromkeys([*FIXED, MIX], 32), steps
    )


@pytest.mark.slow
def test_the_part_trains_once_and_its_program_prints_the_same(tiny: LoadedModel, tmp_path: Path) -> None:
    services = Services(TinyStore.written(tiny, tmp_path / "tiny"), "tiny")
    before = shown(services, Sentence("", "", "tiny"))
    assert list(plotly(before["shares"]).data[0].y) == pytest.approx([1 / 3] * 3, abs=1e-4)
    assert "<td>–</td>" in before["scores"]
    kept = TrainedResults()
    *_, last = trained(services, kept, "tiny")
    assert next(trained(services, kept, "tiny"))["said"] == last["said"]  # kept: no training again
    shares = list(plotly(last["shares"]).data[0].y)
    assert [float(name.split("<br>")[1]) for name in plotly(last["shares"]).layout.xaxis.ticktext] == pytest.approx(
        shares, abs=6e-3
    )
    spec = replace(tiny.spec, hub_id=str(tmp_path / "tiny"), revision="0" * 40)
    tiny.tokenizer.save_pretrained(tmp_path / "tiny")
    program = mix_code(spec)
    lines = dict(line.split(" ", 1) for line in printed(program))
    assert [float(share) for share in lines["shares"].split()] == pytest.approx(shares, abs=2e-3)
    assert f"has an F1 of <b>{float(lines['F1']):.3f}</b>" in last["said"]
    assert f"γ is {float(lines['gamma']):.2f}" in last["said"]
    *_, learned = tagged(services, kept, "tiny", "concat_last_four")
    found = float(learned["learned"].split("an F1 of <b>")[1].split("<")[0])
    assert float(lines["BiLSTM"]) == pytest.approx(found, abs=0.02)  # one sentence at a time, here batches: rounding
    assert found > 0


def test_a_bilstm_fills_its_cell_once_for_all(
    tiny: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bilstm_tagger, "EPOCHS", 1)
    services, found = Services(TinyStore.written(tiny, tmp_path / "tiny"), "tiny"), TrainedResults()
    *_, last = tagged(services, found, "tiny", "last")
    result = found.taggers.known(("tiny", "", "last"))
    assert result
    assert f"has {result.parameters:,} parameters and an F1 of <b>{result.score.f1:.3f}</b>" in last["learned"]
    row = last["scores"][last["scores"].index(">last layer</th>") :].split("</tr>")[0]
    assert f"<b>{result.score.f1:.3f}</b>" in row
    assert next(tagged(services, found, "tiny", "last")) == last  # kept
    with pytest.raises(UserError, match="The layers must be one of"):
        next(tagged(services, found, "tiny", "first"))


def test_published_scores_stand_beside_each_choice() -> None:
    table = html.unescape(scores_html(None, {}))
    for name, score in (
        ("embeddings (0)", "0.910"),
        ("last four, concatenated", "0.961"),
        ("second-to-last layer", "0.956"),
    ):
        assert score in table[table.index(name) :].split("</tr>")[0]
    assert table.count("<td>–</td>") == 5 * 7 + 1  # nothing is measured yet, and the paper has no score of the mix


def test_what_is_said_of_a_mix_that_is_best_and_of_one_that_is_not() -> None:
    worse = " ".join(after_html(comparison(0.4, [0.1, 0.5, 0.2, 0.3, 0.3, 0.2])).split())
    assert "<b>0.75</b>, is that of layer 1; γ is 1.50" in worse
    assert "second-to-last layer, has <b>0.500</b>; the six choices range from 0.100 to 0.500" in worse
    assert "partly due to luck" in worse
    assert "partly due to luck" not in after_html(comparison(0.6, [0.1, 0.5, 0.2, 0.3, 0.3, 0.2]))


def test_the_program_is_filled_in(tiny: LoadedModel) -> None:
    program = mix_code(tiny.spec)
    assert not any(f"<{name}>" in program for name in ("IMPORTS", "SOURCE", "RATE", "STEPS", "UNITS", "BATCH"))

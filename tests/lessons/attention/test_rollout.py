"""Many heads as one, on the bundled model: picture, sentence, list, table and program tell the same numbers."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from demos.bert.attention.contributions import staying_shares
from demos.bert.attention.rollout import Recipe, aggregate
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.errors import UserError
from demos.lessons.attention.rollout.part import Rollout, numbers
from demos.lessons.attention.rollout.text import note, rollout_code, sources_html, summary
from demos.page.services import Sentence, Services
from demos.page.view import On
from tests.made_up import distilbert
from tests.plotly_figure import plotly
from tests.programs import printed
from tests.shown_values import with_values

TEXT, PAIR = "The unflappable banker smiled.", "Nobody noticed it."
drawn = with_values(Rollout().shown)


def test_rollout_beside_the_one_with_the_measured_share(services: Services) -> None:
    sentence = Sentence(TEXT, "", "minilm")
    outputs = drawn(services, sentence, of="3")  # a piece in the middle of its word
    theirs = services.run(sentence).attentions.astype(np.float64)
    one, two = (0.5 * theirs[layer].mean(axis=0) + 0.5 * np.eye(theirs.shape[-1]) for layer in (0, 1))
    rolled = two @ one  # [10, 10]; the word "unflappable" is tokens 2 to 5
    row = rolled[2:6].mean(axis=0)
    z = np.array(plotly(outputs["plot"]).data[0].z)
    assert z.shape == (7, 7)
    np.testing.assert_allclose(z[2], [row[0], row[1], row[2:6].sum(), *row[6:]], atol=1e-4)
    np.testing.assert_allclose(plotly(outputs["plot"]).data[1].x, 1, atol=1e-4)
    assert "every row sums to 1." in outputs["said"]
    run = services.run(sentence)
    own = [staying_shares(services.loaded("minilm"), run, layer).astype(np.float64) for layer in (0, 1)]
    stays = own[1].mean()
    assert (
        f"{stays:.0%} of a token’s vector after the attention of layer 2 comes from the token itself (residual "
        "connection and attention to itself), on average over this input (Kobayashi et al. 2021)" in outputs["said"]
    )
    assert 0.25 < np.diagonal(rolled).mean() < 0.5  # at the layer that is shown first: neither all nor nothing
    assert outputs["of"]["value"] == "2"
    assert ("unflappable (2)", "2") in outputs["of"]["choices"]
    assert "Composition of <q>unflappable</q> (token 2) after layer 2, by rollout" in outputs["sources"]
    shown = [float(number) for number in re.findall(r"<span>([\d.]+)</span>", outputs["sources"])]
    factors = []
    for layer in (0, 1):
        given = theirs[layer].mean(axis=0)
        np.fill_diagonal(given, 0)
        factors.append((1 - own[layer])[:, None] * given / given.sum(axis=1, keepdims=True) + np.diag(own[layer]))
    measured = factors[1] @ factors[0]
    other = measured[2:6].mean(axis=0)
    assert shown[:2] == [pytest.approx(row[2:6].sum(), abs=6e-4), pytest.approx(other[2:6].sum(), abs=6e-4)]
    assert "assumed residual share 0.50</span>" in outputs["sources"]
    itself = [by_word(matrix) for matrix in (rolled, measured)]
    assert itself[1] > itself[0] + 0.1  # far more than half of a token comes from itself
    both = (
        f"a word’s share of its own row is {itself[0]:.0%} on average with the assumed residual share, and "
        f"{itself[1]:.0%} with the measured one."
    )
    assert both in outputs["said"]
    turned = drawn(services, sentence, of="3", join_share="measured")
    assert both in turned["said"]
    assert "residual share measured for each token" in turned["said"]
    np.testing.assert_allclose(np.array(plotly(turned["plot"]).data[0].z)[2, 2], other[2:6].sum(), atol=1e-4)
    shown = [float(number) for number in re.findall(r"<span>([\d.]+)</span>", turned["sources"])]
    assert shown[:2] == [pytest.approx(other[2:6].sum(), abs=6e-4), pytest.approx(row[2:6].sum(), abs=6e-4)]
    assert turned["join_share"]["visible"]
    assert not turned["residual"]["visible"]
    assert f"<td>{row[0]:.3f}</td>" in outputs["numbers"]


def by_word(matrix: np.ndarray) -> float:
    """The mean of the diagonal once tokens 2 to 5 are one word."""
    alone = np.diagonal(matrix)[[0, 1, 6, 7, 8, 9][: len(matrix) - 4]]
    word = matrix[2:6, 2:6].sum(axis=1).mean()
    return float(np.mean([*alone, word]))


def test_only_what_counts_is_on_offer(services: Services) -> None:
    offered = {}
    names = ("join_layer", "join_head", "join_share", "residual", "quarter")
    for what in ("rollout", "heads-mean", "layers-max", "all-mean", "head"):
        outputs = drawn(services, Sentence(TEXT, "", "minilm"), join=what, of="0")
        offered[what] = [outputs[name]["visible"] for name in names]
    assert offered == {
        "rollout": [True, False, True, True, False],
        "heads-mean": [True, False, False, False, False],
        "layers-max": [False, True, False, False, False],
        "all-mean": [False, False, False, False, False],
        "head": [True, True, False, False, False],
    }
    outputs = drawn(services, Sentence(TEXT, PAIR, "minilm"), join_layer=23, join_head=15, of="0")
    assert outputs["quarter"]["visible"]
    on = On(services, Sentence(TEXT, PAIR, "minilm"))
    beyond = Rollout().read(on, {"join_layer": 23, "join_head": 15})
    assert (beyond.join_layer, beyond.join_head) == (5, 11)


def test_the_sentence_says_what_was_done(services: Services) -> None:
    run = services.run(Sentence(TEXT, PAIR, "minilm"))
    recipe = Recipe("heads-mean", 3, words=True, specials="hide", quarter="A-B")
    made = aggregate(services.loaded("minilm"), run, recipe)
    sums = made.values.sum(axis=1)
    assert summary(recipe, made, run) == (
        "The mean over the 12 heads of layer 4, word by word (weights to a split word are summed over its pieces, "
        "weights from it averaged), [CLS] and [SEP] hidden, not renormalized, only from sentence A to sentence B, "
        "without renormalizing: "
        f"rows sum to {sums.mean():.2f} on average, from {sums.min():.2f} to {sums.max():.2f}."
    )
    most = Recipe("all-max")
    assert summary(most, aggregate(services.loaded("minilm"), run, most), run).startswith(
        "The largest weight among all 72 heads of all 6 layers: rows"
    )
    assert "not a distribution" in note(most)
    by_norm = Recipe("all-max", measure="contribution")
    assert summary(by_norm, aggregate(services.loaded("minilm"), run, by_norm), run).startswith(
        "The largest share among all 72 heads of all 6 layers, by contribution (each norm as a share of its row): rows"
    )
    assert "in proportion to their contributions" in note(Recipe(share="measured", measure="contribution"))
    assert "only their number in common" in note(Recipe("layers-mean", head=4))
    assert note(Recipe("heads-mean")) == ""


PROGRAMS = [
    Recipe("rollout", 4, residual=0.3, words=True),
    Recipe("heads-max", 2, specials="hide"),
    Recipe("layers-mean", head=7, words=True, specials="renormalise", quarter="B-A"),
    Recipe("all-max", quarter="A-B"),
    Recipe("rollout", 4, share="measured", words=True),
    Recipe("rollout", 3, share="measured", measure="contribution"),
    Recipe("rollout", 3, residual=0.3, measure="contribution"),
    Recipe("layers-max", head=7, measure="contribution", specials="renormalise"),
]
TYPED = "A [SEP] B"


def test_hidden_special_tokens_are_the_typed_ones_too(services: Services, bundled: LoadedModel) -> None:
    run = services.run(Sentence(TYPED, "", "minilm"))
    made = aggregate(bundled, run, Recipe("heads-mean", 0, specials="hide"))
    assert made.rows.names == made.columns.names == ("a", "b")
    np.testing.assert_allclose(made.values, run.attentions[0].mean(axis=0)[np.ix_([1, 3], [1, 3])], atol=1e-6)
    lines = printed(rollout_code(bundled.spec, run.encoding, Recipe("heads-mean", 0, specials="hide")))
    assert [line.split(" ")[0] for line in lines if "] sum" in line] == ["a", "b"]


@pytest.mark.slow
def test_the_programs_print_these_numbers(services: Services, bundled: LoadedModel) -> None:
    run = services.run(Sentence('Say "unflappable"\\n{x} now.', PAIR, "minilm"))
    for recipe in PROGRAMS:
        made = aggregate(bundled, run, recipe)
        program = rollout_code(bundled.spec, run.encoding, recipe)
        lines = [re.fullmatch(r"(\S+) \[(.*)\] sum (\S+)", line) for line in printed(program)]
        found = [line.groups() for line in lines if line]
        assert [name for name, _, _ in found] == list(made.rows.names), recipe
        rows = np.array([[float(number) for number in row.split(",")] for _, row, _ in found])
        np.testing.assert_allclose(rows, made.values, atol=6e-4)
        np.testing.assert_allclose([float(total) for _, _, total in found], made.values.sum(axis=1), atol=6e-4)


def test_the_programs_know_distilberts_names_too(tiny: LoadedModel, tmp_path: Path) -> None:
    distil = distilbert(tiny.tokenizer, tmp_path)
    (run,) = run_model(distil, [encode(tiny.tokenizer, TEXT)])
    for what in ("rollout", "heads-max"):
        recipe = Recipe(what, 1, share="measured", measure="contribution")  # type: ignore[arg-type]
        lines = printed(rollout_code(distil.spec, run.encoding, recipe))
        rows = [json.loads(line[line.index(" [") : line.rindex("] ") + 1]) for line in lines if "] sum" in line]
        np.testing.assert_allclose(rows, aggregate(distil, run, recipe).values, atol=6e-4)


def test_a_long_input_is_cut_and_says_so(services: Services) -> None:
    outputs = drawn(services, Sentence("word " * 300, "", "minilm"), of="200")
    assert np.array(plotly(outputs["plot"]).data[0].z).shape == (128, 128)
    assert "the first 128 of 302 rows" in outputs["said"]
    assert outputs["numbers"].count("<tr>") == 65
    assert "the first 64 of 302 rows" in outputs["numbers"]
    assert outputs["of"]["value"] == "200"  # the list is of any row
    assert outputs["of"]["choices"][200] == ("word (200)", "200")


def test_what_is_typed_stays_text_and_nonsense_is_a_default(services: Services) -> None:
    sentence = Sentence("<img src=x onerror=alert(1)> ${x}", "", "minilm")
    nonsense = {"join": "</b>", "join_layer": None, "join_head": None, "join_share": "<i>", "join_measure": "<b>"}
    outputs = drawn(services, sentence, **nonsense, residual=7, specials="x", quarter="y", of="9" * 5000)
    assert all("<img" not in outputs[name] for name in ("said", "sources", "numbers"))
    assert "<q>[SEP]</q>" not in outputs["sources"]
    assert "residual share 1.00" in outputs["said"]
    run = services.run(sentence)
    made = aggregate(services.loaded("minilm"), run, Recipe("head"))
    assert "<b>&lt;</b>" in sources_html(made, 1, Recipe("head"))


@pytest.mark.parametrize(("words", "bars", "others"), [(5, 7, 0), (7, 9, 0), (8, 8, 2)])
def test_one_source_is_never_left_out_alone(services: Services, words: int, bars: int, others: int) -> None:
    text = " ".join(["one", "two", "three", "four", "five", "six", "seven", "eight"][:words])
    sources = drawn(services, Sentence(text, "", "minilm"))["sources"]
    assert sources.count("<li>") == bars
    assert (f"All other {others} together" in sources) == (others > 0)
    assert ("All other" in sources) == (others > 0)


def test_nothing_but_special_tokens(services: Services) -> None:
    outputs = drawn(services, Sentence("", "", "minilm"), of="0")
    assert np.array(plotly(outputs["plot"]).data[0].z).shape == (2, 2)
    with pytest.raises(UserError, match="there is nothing to show"):
        drawn(services, Sentence("", "", "minilm"), specials="hide")


def test_the_file_holds_the_recipe_and_its_numbers(services: Services) -> None:
    sentence = Sentence(TEXT, PAIR, "minilm")
    on = On(services, sentence)
    name, text = numbers(on, Rollout().read(on, {"quarter": "B-A"}))
    document = json.loads(text)
    assert name == "bert-attention-rollout-layer2.json"
    made = aggregate(
        services.loaded("minilm"), services.run(sentence), Recipe("rollout", 1, 2, words=True, quarter="B-A")
    )
    np.testing.assert_allclose(document["weights"], made.values, atol=1e-6)
    assert (document["recipe"]["quarter"], document["recipe"]["share"]) == ("B-A", "assumed")
    c = Rollout().read(on, {"join_share": "measured", "join_measure": "contribution"})
    measured = json.loads(numbers(on, c)[1])
    recipe = Recipe("rollout", 1, 2, "measured", measure="contribution", words=True)
    expected = aggregate(services.loaded("minilm"), services.run(sentence), recipe)
    np.testing.assert_allclose(measured["weights"], expected.values, atol=1e-6)
    assert (measured["recipe"]["share"], measured["recipe"]["measure"]) == ("measured", "contribution")
    assert (document["rows"][0], document["columns"][2]) == ("nobody", "unflappable")

"""ModernBERT in the lessons: every part is drawn or refuses in one sentence; global and local layers are named."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demos.bert.attention.contributions import CONTRIBUTION
from demos.bert.attention.rollout import Recipe, aggregate
from demos.bert.family.attentions import of_one_stack
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.own_folder import read_catalogue
from demos.bert.translation.transformer_places import ENCODER
from demos.errors import UserError
from demos.lessons import discover
from demos.lessons.attention.heads.part import of_head
from demos.lessons.attention.rollout.part import Rollout
from demos.lessons.family.attention.figure import equal_on_first, said_html
from demos.page.lesson import Lesson
from demos.page.services import Sentence, Services
from demos.page.view import On, View
from demos.widgets.comparison.figure import compare_code
from demos.widgets.comparison.sides import ComparisonForm, pair_of
from tests.bert.family.tiny_family import member, write
from tests.bert.model.other_encoders import SIZES
from tests.plotly_figure import plotly
from tests.programs import printed
from tests.shown_values import shown_value, shown_values

TEXT, PAIR = "The agreement, signed in August.", "un café été!"
SLOW = ("embeddings", "finetune", "translation", "family")
GLOBAL = "Layer 1 is global: each token can attend to all tokens."
LOCAL = (
    "Layer 2 is local: each token attends to itself and to at most 4 tokens on each side; all other weights are "
    "exactly 0."
)
KINDS = "Layers 1 and 3 are global: each token attends to all tokens. The other layers are local"


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    """The app's, started with a folder of a ModernBERT: three layers, the second is local and reaches four tokens."""
    folder = tmp_path_factory.mktemp("modern") / "modern"
    write("modernbert", folder, **SIZES)
    return Services(ModelStore(read_catalogue(folder)), BUNDLED)


@pytest.fixture(scope="module")
def loaded(services: Services) -> LoadedModel:
    return services.loaded("folder-modern")


def outcomes(view: View, services: Services, sentence: Sentence) -> Iterator[str | None]:
    """For each output of each of its drawings, the sentence that refuses it; None where it is there."""
    on = On(services, sentence)
    for drawing in view.drawings():
        try:
            answer = drawing.method(on, view.read(on, {}))
            values = list(answer)[-1] if inspect.isgenerator(answer) else answer
        except UserError as error:
            yield str(error)
            continue
        for value in values.values():
            try:
                shown_value(value)
            except UserError as error:
                yield str(error)
            else:
                yield None


@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(lesson, id=lesson.slug, marks=[pytest.mark.slow] if lesson.slug in SLOW else [])
        for lesson in discover()
    ],
)
def test_every_part_is_drawn_or_refuses_in_one_sentence(lesson: Lesson, services: Services) -> None:
    """Any other error than a UserError fails."""
    for place in lesson.parts or (lesson,):
        assert place.view is not None
        refuses = lesson.only_bert or place.only_bert
        of_place = services.for_bert() if refuses else services
        for sentence in (Sentence(TEXT, PAIR, "folder-modern"), Sentence(TEXT * 9, "", "folder-modern")):
            found = list(outcomes(place.view, of_place, sentence))
            for said in filter(None, found):
                assert re.fullmatch(r"[A-Zm].{20,220}\.", said), said
                assert refuses or "not of BERT's kind" in said, said
            assert None in found or refuses, place


def test_a_head_of_a_local_layer_says_so_and_shows_its_window(services: Services, loaded: LoadedModel) -> None:
    sentence = Sentence(TEXT, PAIR, loaded.spec.key)
    n = len(services.run(sentence).encoding)
    of_local, of_global = (of_head(services, sentence, "head", layer, 1, "weight", "") for layer in (1, 0))
    assert f"<p>{LOCAL} Dashed lines in the heatmap mark the edges of this window.</p>" in of_local["said"]
    assert f"<p>{GLOBAL}</p>" in of_global["said"]
    dashed = [line for line in plotly(of_local["plot"]).layout.shapes if line.line.dash == "dash"]
    assert [(line.x0, line.y0, line.x1, line.y1) for line in dashed] == [
        (4, -0.5, n - 0.5, n - 5), (-0.5, 4, n - 5, n - 0.5),
    ]  # fmt: skip
    assert not [line for line in plotly(of_global["plot"]).layout.shapes if line.line.dash == "dash"]
    weights = np.array(plotly(of_local["plot"]).data[0].z)
    places = np.arange(n)
    assert (weights[np.abs(places[:, None] - places) > 4] == 0).all()
    short = of_head(services, Sentence("signed", "", loaded.spec.key), "head", 1, 1, "weight", "")
    assert "This input has 3 tokens, so all of them are within this distance.</p>" in short["said"]
    assert not plotly(short["plot"]).layout.shapes
    assert "is global" not in of_head(services, Sentence(TEXT, "", BUNDLED), "head", 1, 1, "weight", "")["said"]


def test_combined_heads_and_two_sides_say_which_layers_are_local(services: Services, loaded: LoadedModel) -> None:
    sentence = Sentence(TEXT, "", loaded.spec.key)
    rollout = shown_values(Rollout().shown(services, sentence))
    assert f"<p>{KINDS}" in rollout["said"]
    of_layer = {"join": "heads-mean", "join_layer": 1, "words": False}
    mean = shown_values(Rollout().shown(services, sentence, **of_layer))
    assert f"<p>{LOCAL} Dashed lines" in mean["said"]
    assert len(mean["plot"].layout.shapes) == 2
    fewer = shown_values(Rollout().shown(services, sentence, **of_layer | {"specials": "hide"}))
    assert f"<p>{LOCAL}</p>" in fewer["said"]
    assert not fewer["plot"].layout.shapes
    form = ComparisonForm("", "sentences", "", "un café été", "1", "0", "0", "0")
    left = LOCAL.replace("Layer", "On the left, layer")
    assert pair_of(services, sentence, form).note.startswith(f"{left} On the right, layer 1 is global: ")
    form = ComparisonForm("", "models", BUNDLED, "", "all", "0")
    assert pair_of(services, sentence, form).note.startswith(f"On the left, layers 1 and 3 {KINDS[15:]}")


def test_rollout_without_a_norm_behind_attention(services: Services, loaded: LoadedModel) -> None:
    """The shares of the vectors that attention and the residual connection add up, from the model's own modules."""
    run = services.run(Sentence(TEXT, "", loaded.spec.key))
    found = aggregate(loaded, run, Recipe("rollout", 0, share="measured", measure=CONTRIBUTION)).values
    module, states, alpha = loaded.model.layers[0], run.hidden_states[0], run.attentions[0]
    n, d = states.shape
    values = states @ module.attn.Wqkv.weight.numpy()[-d:].T  # the first layer has no norm before attention either
    mixing = module.attn.Wo.weight.numpy()
    added = np.zeros((n, n, d))  # by token j to token i
    for head in range(4):
        own = slice(head * d // 4, (head + 1) * d // 4)
        added += alpha[head][:, :, None] * (values[:, own] @ mixing[:, own].T)
    itself = added[np.arange(n), np.arange(n)]
    others = np.linalg.norm(added.sum(axis=1) - itself, axis=1)
    stays = np.linalg.norm(itself + states, axis=1)
    stays = stays / (stays + others)
    norms = np.linalg.norm(added, axis=2) * (1 - np.eye(n))
    expected = (1 - stays)[:, None] * norms / norms.sum(axis=1, keepdims=True) + np.diag(stays)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_program_of_two_sides_prints_their_difference(services: Services, loaded: LoadedModel) -> None:
    """By contribution, of a layer in which LayerNorm comes before attention."""
    form = ComparisonForm("", "sentences", "", "The agreement was signed in August.", "1", "2", "2", "3", CONTRIBUTION)
    pair = pair_of(services, Sentence(TEXT, "", loaded.spec.key), form)
    spec = replace(loaded.spec, hub_id=str(services.store.folder(loaded.spec.key)))
    lines = printed(compare_code(pair.left, pair.right, (spec, spec), pair.comparison))
    names = list(pair.comparison.alignment.names)
    assert len(lines) == 10
    for line in filter(None, (re.fullmatch(r"from (.+) to (.+): ([+-][0-9.]+)", line) for line in lines)):
        i, j = names.index(line[1]), names.index(line[2])
        assert float(line[3]) == pytest.approx(pair.comparison.difference[i, j], abs=6e-4)


def test_beside_bert_it_is_no_encoder_without_a_mask(tmp_path: Path) -> None:
    model, tokenizer = write("modernbert", tmp_path / "modern")  # two layers, the second is local
    model.set_attn_implementation("eager")
    reading = of_one_stack(member("modernbert"), model, tokenizer, TEXT)
    attention = reading.kinds[ENCODER]
    assert attention.reaches == (None, 4)
    assert GLOBAL in said_html(reading, attention, 0)
    assert LOCAL in said_html(reading, attention, 1)
    assert "There is no mask" not in said_html(reading, attention, 1)
    n = len(attention.rows)
    seen = (np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 4).astype(float)
    local = (seen / seen.sum(axis=1, keepdims=True))[:, 0].mean()
    assert equal_on_first(attention) == pytest.approx((1 / n + local) / 2)

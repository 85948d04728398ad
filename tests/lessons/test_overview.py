"""The Overview lesson: each of its numbers against transformers' own, and what it does with unusual sentences."""

import base64
import json
import re
from html import unescape
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from demos.bert.model.models import LoadedModel, model_folder
from demos.errors import UserError
from demos.figures.cell_strip import SHADES, colours
from demos.lessons.overview.figure import FAINTEST, INPUT_CELLS, MAX_ROWS, SOURCES, STATE_CELLS
from demos.lessons.overview.part import Overview
from demos.lessons.pretraining.fill_mask.part import fill_endpoint
from demos.page.services import Sentence, Services
from demos.training.learning.model import Model, keep
from demos.training.tasks.classification.task import Classification
from tests.number_cells import numbers
from tests.programs import printed
from tests.shown_values import with_values

drawn = with_values(Overview().shown)
TEXT, PAIR = "The pianist sat down on the wooden bench.", "She played a waltz."


@pytest.fixture(scope="module")
def reference(bundled: LoadedModel) -> tuple[Any, Any]:
    """(transformers' tokens, its own model's output) of TEXT and PAIR."""
    model = AutoModel.from_pretrained(model_folder(bundled.spec), attn_implementation="eager").eval()
    inputs = bundled.tokenizer(TEXT, PAIR, return_tensors="pt")
    with torch.inference_mode():
        return inputs, model(**inputs, output_hidden_states=True, output_attentions=True)


@pytest.fixture(scope="module")
def views(services: Services) -> dict[str, Any]:
    return drawn(services, Sentence(TEXT, PAIR, ""))


def columns(html: str) -> list[np.ndarray]:
    """The strips' colours on the light page, <int>[n, w, 3] each, in their order."""
    scale = colours(np.linspace(-1, 1, SHADES), 1)
    found = re.findall(r'data-places="([^"]+)"><canvas width="(\d+)" height="(\d+)">', html)
    return [
        scale[np.frombuffer(base64.b64decode(places), np.uint8).reshape(int(height), int(width))].astype(int)
        for places, width, height in found
    ]


def test_tokens_and_ids_are_the_tokenizers(views: dict[str, Any], reference: tuple[Any, Any]) -> None:
    inputs, _ = reference
    rows = re.findall(r'data-token="(\d+)".*?<b>(.*?)</b><i>(\d+)</i>', views["picture"], re.S)
    ids = inputs.input_ids[0].tolist()
    assert [(unescape(token), int(number)) for _, token, number in rows] == list(zip(inputs.tokens(), ids, strict=True))


def test_a_typed_separator_counts_as_a_special_token(services: Services) -> None:
    picture = drawn(services, Sentence("A [SEP] B", "", ""))["picture"]
    weights = services.run(Sentence("A [SEP] B", "", "")).attentions[..., [0, 2, 4]]
    assert f"{weights.sum(axis=-1).mean():.0%}" == "82%"
    assert "which receive 82% of all attention" in re.sub(r"\s+", " ", picture)


def test_each_line_is_a_mean_attention_weight(views: dict[str, Any], reference: tuple[Any, Any]) -> None:
    inputs, output = reference
    special = {place for place, token in enumerate(inputs.tokens()) if token in ("[CLS]", "[SEP]")}
    pictures = re.findall(r"<svg.*?</svg>", views["picture"], re.S)
    assert len(pictures) == len(output.attentions) == 6
    for picture, attentions in zip(pictures, output.attentions, strict=True):
        mean = attentions[0].mean(dim=0)
        wanted = {}
        for target in range(len(mean)):
            weights = {source: mean[target, source].item() for source in range(len(mean)) if source not in special}
            for source in sorted(weights, key=weights.__getitem__, reverse=True)[:SOURCES]:
                if weights[source] >= FAINTEST:
                    wanted[source, target] = weights[source]
        lines = re.findall(r'y1="([\d.]+)" x2="10" y2="([\d.]+)" style="--w:([\d.]+)"', picture)
        seen = {(int(float(y1)), int(float(y2))): float(weight) for y1, y2, weight in lines}
        assert seen == pytest.approx(wanted, abs=6e-4)
    whole = torch.stack(output.attentions)[:, 0].mean(dim=1)
    share = whole[..., sorted(special)].sum(dim=-1).mean()
    assert f"which receive {share:.0%} of all attention" in re.sub(r"\s+", " ", views["picture"])


def test_the_strips_have_the_vectors_colours(views: dict[str, Any], reference: tuple[Any, Any]) -> None:
    inputs, output = reference
    *_, summed = columns(views["picture"])[:4]
    layers = columns(views["picture"])[4:]
    n = len(inputs.input_ids[0])
    for picture, states, width in [
        (summed, output.hidden_states[0], INPUT_CELLS),
        *((layer, states, STATE_CELLS) for layer, states in zip(layers, output.hidden_states[1:], strict=True)),
    ]:
        assert picture.shape == (n, width, 3)
        values = states[0, :, :width].numpy()
        clear = np.abs(values) > 0.1 * np.quantile(np.abs(states[0].numpy()), 0.99)
        red, blue = picture[..., 0], picture[..., 2]
        assert ((blue > red) == (values > 0))[clear].all()  # blue above zero, orange below


def test_the_input_is_three_vectors_added(views: dict[str, Any], reference: tuple[Any, Any], bundled: Any) -> None:
    inputs, _ = reference
    tables = bundled.model.embeddings
    n = len(inputs.input_ids[0])
    parts = [
        tables.word_embeddings(inputs.input_ids[0]),
        tables.token_type_embeddings(inputs.token_type_ids[0]),
        tables.position_embeddings(torch.arange(n)),
    ]
    limit = np.quantile(torch.cat(parts).abs().detach().numpy(), 0.99)
    for picture, vectors in zip(columns(views["picture"])[:3], parts, strict=True):
        values = vectors[:, :INPUT_CELLS].detach().numpy()
        assert picture.shape == (n, INPUT_CELLS, 3)
        clear = np.abs(values) > 0.1 * limit
        assert ((picture[..., 2] > picture[..., 0]) == (values > 0))[clear].all()
    marks = re.findall(r'class="marks".*?</span></span>', views["picture"], re.S)
    assert [re.findall(r"<span>(\w+)</span>", column) for column in marks] == [
        ["AB"[kind] for kind in inputs.token_type_ids[0].tolist()],
        [str(place) for place in range(n)],
    ]


def test_the_sentences_vector_is_the_mean(views: dict[str, Any], reference: tuple[Any, Any]) -> None:
    (values,) = re.findall(r'data-values="([^"]+)"', views["exits"])
    mean = reference[1].hidden_states[-1][0].mean(dim=0)
    shown = numbers(values).tolist()
    assert shown == pytest.approx(mean[: len(shown)].tolist(), abs=1e-5)


def test_the_guesses_are_those_of_the_hidden_word(services: Services, views: dict[str, Any]) -> None:
    (word,) = re.findall(r"With <q>(\w+)</q> masked", views["exits"])
    hidden = TEXT.replace(word, "[MASK]") if word in TEXT else PAIR.replace(word, "[MASK]")
    alone = drawn(services, Sentence(TEXT, "", ""), token=TEXT.rstrip(".").split().index("wooden") + 1)["exits"]
    assert "With <q>wooden</q> masked" in alone
    answer = fill_endpoint(services)(TEXT.replace("wooden", "[MASK]"), top=5)["masks"][0]["words"]
    rows = re.findall(r"<b>(.*?)</b><span>(\d+)%</span>", alone)
    assert rows == [(guess["token"], f"{guess['probability']:.0%}".rstrip("%")) for guess in answer]
    assert "[MASK]" in hidden  # the word is one of the sentence's own


def test_a_mask_of_the_sentences_own_is_guessed(services: Services) -> None:
    exits = drawn(services, Sentence("Paris is the [MASK] of France.", "", ""))["exits"]
    assert "At <q>[MASK]</q>" in exits
    assert "<b>capital</b>" in exits


def test_the_table_has_the_norms(views: dict[str, Any], reference: tuple[Any, Any]) -> None:
    _, output = reference
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", views["numbers"], re.S)
    norms = torch.stack(output.hidden_states)[:, 0].norm(dim=-1)  # [L + 1, n]
    assert len(rows) == norms.shape[1]
    for at, row in enumerate(rows):
        numbers = [float(number) for number in re.findall(r"<td>([\d.]+)</td>", row)]
        assert numbers[1:] == pytest.approx(norms[:, at].tolist(), abs=6e-4)


def test_the_program_prints_the_table(services: Services, views: dict[str, Any], reference: tuple[Any, Any]) -> None:
    lines = printed(views["program"])
    _, output = reference
    norms = torch.stack(output.hidden_states)[:, 0, 1].norm(dim=-1).tolist()
    assert lines[2].split()[0] == "the"
    assert [float(number) for number in lines[2].split()[2:]] == pytest.approx(norms, abs=6e-4)
    assert json.loads(lines[-1]) == pytest.approx(output.hidden_states[-1][0].mean(dim=0)[:8].tolist(), abs=6e-5)


@pytest.mark.parametrize("token", [-1, 3, 47, 500, None])
def test_a_long_text_is_drawn_in_part(services: Services, token: int | None) -> None:
    views = drawn(services, Sentence("word " * 100, "", ""), token=token)
    assert views["picture"].count('role="radio"') == MAX_ROWS
    assert "the model's input has 54 more" in views["picture"]
    (chosen,) = re.findall(r'data-token="(\d+)" aria-checked="true"', " ".join(views["picture"].split()))
    assert int(chosen) == token if token in (3, 47) else 0 < int(chosen) < MAX_ROWS


def test_nothing_to_hide_in_an_empty_sentence(services: Services) -> None:
    views = drawn(services, Sentence("", "", ""))
    assert views["picture"].count('role="radio"') == 2
    assert "The sentence has no word to mask." in views["exits"]


def test_what_is_missing_for_a_masked_word_is_said(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "The sentence has no word to mask." in drawn(services, Sentence("... !!!", "", ""))["exits"]

    def headless(key: str) -> None:
        raise UserError("This model has no such head.")

    monkeypatch.setattr(services, "pretrained", headless)
    exits = drawn(services, Sentence("a word", "", ""))["exits"]
    assert "This model has no head that predicts masked words." in exits
    assert "no word to mask" not in exits


def test_hostile_text_is_text(services: Services) -> None:
    views = drawn(services, Sentence("<script>alert(1)</script> & <b>bold</b>", "", ""))
    for name in ("picture", "exits", "numbers"):
        assert "<script" not in views[name]
    assert "<b>&lt;</b>" in views["picture"]


def test_the_readers_own_classifier_answers(services: Services, bundled: LoadedModel) -> None:
    runs = services.trainings.runs
    labels = tuple("abcdef")
    task = Classification(labels=labels, pooling="mean", dropout=0.0)
    head = task.head(384, torch.Generator().manual_seed(0))
    head[-1].weight.data *= 30
    run = runs.new()
    keep(Model(bundled.model, head, bundled.tokenizer), task, 6, runs.folder(run))
    runs.keep(run, "minilm")
    exits = drawn(services, Sentence(TEXT, "", ""), trained=run)["exits"]
    whole = runs.predict(run, [TEXT])[0]  # cut to six tokens, as it was trained
    best = sorted(whole, key=whole.__getitem__, reverse=True)[:4]
    shown = re.findall(r'class="special".*?<b>(\w)</b><span>(\d+)%', exits)
    assert shown == [(label, f"{whole[label]:.0%}".rstrip("%")) for label in best]
    runs.discard(run)
    assert "Train your own" in drawn(services, Sentence(TEXT, "", ""), trained=run)["exits"]

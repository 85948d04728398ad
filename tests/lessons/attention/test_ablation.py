"""Switch heads off: what its handlers fill, for a bundled, a masked-word and a fine-tuned model, and its code, run."""

import ast
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM

from demos.bert.attention import ablation as ablation_module
from demos.bert.attention.ablation import run_without
from demos.bert.model import run as run_module
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.run import Run, run_model
from demos.errors import UserError
from demos.lessons.attention.ablation import results as results_module
from demos.lessons.attention.ablation.layout import LAST, OPENING, PICKED
from demos.lessons.attention.ablation.part import SwitchOff, heads_at_first
from demos.lessons.attention.ablation.results import Ablation
from demos.page.bar import DEFAULT_TEXT
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.learning.model import Model, keep
from demos.training.tasks.classification.task import Classification
from tests.page.tiny_store import TinyStore
from tests.plotly_figure import plotly
from tests.programs import printed
from tests.shown_values import with_values

VIEW = SwitchOff()
TEXT, PAIR = "The kettle had boiled dry.", "Nobody smelled it."


@pytest.fixture(scope="module")
def ablation(store: ModelStore, bundled: LoadedModel) -> Ablation:
    return Ablation(Services(store, bundled.spec.key))


def shown_by(draw: Callable[..., Any], ablation: Ablation, sentence: Sentence, **chosen: Any) -> dict[str, Any]:
    on = On(ablation.services, sentence)
    return dict(with_values(draw)(on, VIEW.read(on, chosen)))


def drawn(ablation: Ablation, sentence: Sentence, off: str, listed: str = "", word: int = PICKED) -> dict[str, Any]:
    return shown_by(VIEW.draw, ablation, sentence, heads_off=off, off_with=listed, word=word)


def explained(
    ablation: Ablation, sentence: Sentence, key: str, layer: str, rows: str, listed: str = ""
) -> dict[str, Any]:
    chosen = {"explain": key, "explain_layer": layer, "explain_rows": rows, "off_with": listed}
    return shown_by(VIEW.draw_explained, ablation, sentence, **chosen)


@pytest.fixture(scope="module")
def masking(bundled: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> tuple[Ablation, BertForMaskedLM]:
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32
    )
    whole = BertForMaskedLM(config).eval()
    whole.set_attn_implementation("eager")
    folder = tmp_path_factory.mktemp("masking")
    whole.save_pretrained(folder)
    spec = ModelSpec("masking", "Tiny", "", "", 2, 4, 32, cased=False, mlm=True)
    loaded = LoadedModel(spec, bundled.tokenizer, whole.bert.requires_grad_(False))
    return Ablation(Services(TinyStore(loaded, folder), "masking")), whole


def test_the_head_that_is_off_at_first_is_the_model_s_own(
    ablation: Ablation, masking: tuple[Ablation, BertForMaskedLM], bundled: LoadedModel
) -> None:
    for loaded, services in (
        (bundled, ablation.services),
        (masking[0].services.loaded("masking"), masking[0].services),
    ):
        run = run_model(loaded, [encode(loaded.tokenizer, DEFAULT_TEXT)])[0]
        before = run.attentions.diagonal(offset=-1, axis1=2, axis2=3)[..., 1:-1].mean(axis=-1)  # [CLS], [SEP] left out
        own = ".".join(str(index + 1) for index in np.unravel_index(before.argmax(), before.shape))
        key = loaded.spec.key
        assert heads_at_first(services, key, OPENING, "") == (own, f"{key} {own}")
        assert heads_at_first(services, key, "2.2, 1.4", "") == ("2.2, 1.4", f"{key} moved")  # a link said so
        assert heads_at_first(services, key, "", "") == ("", f"{key} moved")


def test_all_outputs_tell_of_the_same_heads(ablation: Ablation, bundled: LoadedModel) -> None:
    outputs = drawn(ablation, Sentence(TEXT, PAIR, "minilm"), "2.4 1.3, 8.1", "Tea is ready.\n\n")
    off = {(0, 2), (1, 3)}
    assert json.loads(outputs["struck"]) == [[0, 2], [1, 3]]
    texts = [TEXT, PAIR, "Tea is ready."]
    encodings = [encode(bundled.tokenizer, text) for text in texts]
    runs = [(run_model(bundled, [one])[0], run_without(bundled, [one], off)[0]) for one in encodings]
    states = [torch.tensor(run.hidden_states) for run in runs[0]]
    moved = 1 - torch.cosine_similarity(*states, dim=-1).numpy()
    np.testing.assert_allclose(np.array(plotly(outputs["plot"]).data[0].z), moved, atol=2e-5)
    assert "2 of 72 heads are off" in outputs["said"]
    assert "no head 8.1" in outputs["said"]
    for side in (0, 1):  # before, after: every sentence by the same model
        first, *others = [torch.tensor(pair[side].hidden_states[-1].mean(axis=0)) for pair in runs]
        for other in others:
            assert f"<td>{torch.cosine_similarity(first, other, dim=0):.3f}</td>" in outputs["similar"]
    assert "◆ Nobody" in outputs["similar"]
    assert "found no readable output layer for masked words" in outputs["guesses"]
    assert outputs["word"]["visible"] is False
    assert "Fine-tune this model" in outputs["classes"]
    assert f"<td>{1 - moved[6, 1]:.4f}</td>" in outputs["table"]


def test_a_long_sentence_is_read_once_with_the_heads_and_once_without(
    ablation: Ablation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """512 tokens of BERT base take seconds a pass, and a short sentence beside them is not padded to their length."""
    passes: list[list[int]] = []

    def counted(loaded: LoadedModel, encodings: Sequence[Encoding]) -> list[Run]:
        passes.append([len(encoding) for encoding in encodings])
        return run_model(loaded, encodings)

    for module in (run_module, ablation_module, results_module):
        monkeypatch.setattr(module, "run_model", counted)
    drawn(ablation, Sentence("long " * 60, "", "minilm"), "2.4", "Tea is ready. Come in.")
    assert sorted(passes) == [[9], [9], [62, 62]]
    passes.clear()
    whole = Sentence("Tea is cold by now.", "", "minilm")
    found = ablation.effects(whole, "", whole.text, PICKED, "")
    np.testing.assert_allclose(found.similarities, 1, atol=1e-6)
    assert (found.cosines == 1).all()
    assert passes == [[8]]  # no head is off: nothing is run again
    assert ablation.services.run(whole) is found.before


def test_the_code_prints_these_cosines(ablation: Ablation) -> None:
    sentence = Sentence('Say "hi"\\n\n{x} now.', "", "minilm")
    outputs = drawn(ablation, sentence, "1.3, 3.2, 3.5")
    lines = [line.split(" ", 1) for line in printed(outputs["program"])]
    found = ablation.effects(sentence, "1.3, 3.2, 3.5", "", PICKED, "")
    assert [token for token, _ in lines] == list(found.before.encoding.tokens)
    numbers = np.array([ast.literal_eval(row) for _, row in lines])
    np.testing.assert_allclose(numbers.T, found.cosines, atol=2e-4)
    assert found.cosines.min() < 0.999


def test_predictions_before_and_after(masking: tuple[Ablation, BertForMaskedLM]) -> None:
    ablation, whole = masking
    sentence = Sentence("The [MASK] sang.", "", "masking")
    found = ablation.effects(sentence, "1.1, 1.2, 2.3", "", PICKED, "")
    assert found.guesses is not None
    assert (found.guesses.place, found.guesses.word) == (2, "[MASK]")
    ids = torch.tensor([found.before.encoding.input_ids])
    with torch.no_grad():
        before = whole(ids).logits[0, 2].softmax(-1)
        kept = {layer: whole.bert.encoder.layer[layer].attention.output.dense.weight.clone() for layer in (0, 1)}
        for layer, head in ((0, 0), (0, 1), (1, 2)):
            whole.bert.encoder.layer[layer].attention.output.dense.weight[:, head * 8 : head * 8 + 8] = 0
        after = whole(ids).logits[0, 2].softmax(-1)
        for layer, weight in kept.items():
            whole.bert.encoder.layer[layer].attention.output.dense.weight.copy_(weight)
    for guesses, theirs in ((found.guesses.before, before), (found.guesses.after, after)):
        assert [guess.token_id for guess in guesses] == theirs.topk(5).indices.tolist()
        np.testing.assert_allclose([guess.probability for guess in guesses], theirs.topk(5).values, rtol=1e-4)
    assert not torch.allclose(before, after)

    hidden = ablation.effects(Sentence("The lark sang.", "", "masking"), "", "", 2, "").guesses
    assert hidden is not None
    assert (hidden.place, hidden.word) == (2, "lark")
    assert hidden.before == hidden.after
    np.testing.assert_allclose(hidden.before[0].probability, before.max(), rtol=1e-4)
    shown = drawn(ablation, sentence, "1.1", word=99)
    assert shown["word"]["visible"]
    assert shown["word"]["value"] == PICKED  # there is no token 99


def test_a_classifier_of_this_reader(ablation: Ablation, bundled: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = ablation.services.trainings.runs
    task = Classification(labels=("up", "down"), pooling="mean", dropout=0.0)
    head = task.head(384, torch.Generator().manual_seed(0))
    head[-1].weight.data *= 30
    run = runs.new()
    keep(Model(bundled.model, head, bundled.tokenizer), task, 5, runs.folder(run))
    runs.keep(run, "minilm")
    sentence = Sentence(TEXT, "", "minilm")
    before, after = ablation.effects(sentence, "6.8", "", PICKED, run).classes or ({}, {})
    encoding = encode(bundled.tokenizer, TEXT, max_length=5)
    for chances, heads in ((before, set()), (after, {(5, 7)})):
        states = run_without(bundled, [encoding], heads)[0].hidden_states[-1]
        with torch.no_grad():
            theirs = head[-1](torch.tensor(states.mean(axis=0))).softmax(-1)
        assert list(chances) == ["up", "down"]
        np.testing.assert_allclose(list(chances.values()), theirs, atol=1e-5)
    assert before != after
    whole = runs.predict(run, [TEXT])[0]
    np.testing.assert_allclose(list(before.values()), list(whole.values()), atol=1e-5)

    *_, class_down = targets = ablation.targets(sentence, "One.", PICKED, run)
    assert [target.key for target in targets] == ["s0", "c0", "c1"]
    found, saliency, title = ablation.explained(class_down)
    assert title == "logit of class “down”"
    states = torch.tensor(run_model(bundled, [encoding])[0].hidden_states[-1].mean(axis=0))
    assert saliency.output == pytest.approx(head[-1](states)[1].item(), abs=1e-4)
    assert len(saliency.values) == len(found.encoding) == 5
    # of another base, or gone: said, not shown
    assert ablation.effects(sentence, "", "", PICKED, "nobody's").classes is None
    monkeypatch.setattr(runs, "base", lambda _run: "bert-tiny")
    assert ablation.effects(sentence, "", "", PICKED, run).classes is None
    runs.discard(run)


def test_what_is_explained(ablation: Ablation, masking: tuple[Ablation, BertForMaskedLM]) -> None:
    shown = explained(ablation, Sentence(TEXT, PAIR, "minilm"), "c3", "23", "cls", "One.")
    menu, table, agreed = shown["explain"], shown["explained"], shown["agreed"]
    assert [key for _, key in menu["choices"]] == ["s0", "s1"]
    assert menu["value"] == "s0"  # there is no class to explain
    assert "attention from [CLS], layer 6" in table
    assert "Nobody smelled it." in table
    assert "Spearman" in agreed
    words = masking[0]
    shown = explained(words, Sentence("The [MASK] sang.", "", ""), "w", LAST, "mean")
    menu, table = shown["explain"], shown["explained"]
    assert menu["value"] == "w"
    assert "at token 2" in table
    with pytest.raises(UserError, match="no output to explain"):
        explained(ablation, Sentence(TEXT, "", "minilm"), "s0", LAST, "mean", "\n")


def test_bounds(ablation: Ablation) -> None:
    sentence = Sentence(TEXT, "", "minilm")
    with pytest.raises(UserError, match="limit is 8"):
        ablation.effects(sentence, "", "\n".join(f"Line {n}." for n in range(9)), PICKED, "")
    with pytest.raises(UserError, match="limit is 1,024"):
        ablation.effects(sentence, "", "\n".join(f"{n} " + "sand " * 300 for n in range(4)), PICKED, "")
    with pytest.raises(UserError, match="is not a head"):
        ablation.effects(sentence, "<script>", "", PICKED, "")
    empty = drawn(ablation, replace(sentence, text=""), OPENING)
    assert len(plotly(empty["plot"]).data[0].x) == 2

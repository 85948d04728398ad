"""The Hub's models, as tiny ones in their place: their answers are those of transformers' own pipelines."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer, pipeline

from demos.bert.model.memory_budget import Budget
from demos.errors import UserError
from demos.training.ready.adapter import FOLDER
from demos.training.ready.hub_models import HUB_MODELS, HubModels
from demos.training.ready.models import LICENCES, TRAINED_ON
from demos.widgets.tasks.registry import view_of
from tests.bert.family.family_hub import family_hub
from tests.training.ready.tiny_hub import QUESTION, TEXTS, spec, write


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """(the store, whose models are fetched from a hub of ours; the folder of that hub; the files it was asked for)"""
    for kind in HUB_MODELS:
        write(kind, tmp_path / kind)
    asked: list[str] = []
    with family_hub(tmp_path, monkeypatch, asked):
        yield HubModels(models={kind: spec(kind) for kind in HUB_MODELS}), tmp_path, asked


def test_sentiment_is_the_pipelines(hub: Any) -> None:
    store, folder, _ = hub
    classify = pipeline("text-classification", model=str(folder / "sentence"), top_k=None)
    model = store.trained("sentence")
    assert model.task.labels == ("NEGATIVE", "POSITIVE")
    for text, chances in zip(TEXTS, model.predict(TEXTS), strict=True):
        expected = {answer["label"]: answer["score"] for answer in classify([text])[0]}
        assert dict(zip(model.task.labels, chances, strict=True)) == pytest.approx(expected, abs=1e-5)


def test_names_are_the_pipelines_with_the_first_piece_of_each_word(hub: Any) -> None:
    store, folder, _ = hub
    find = pipeline("token-classification", model=str(folder / "entities"), aggregation_strategy="first")
    model, view = store.trained("entities"), view_of("entities")
    kinds = set()
    for text in TEXTS:
        example = view.example_of([text])
        entities = model.task.entities_of(model.answers([example])[0])
        expected = find(text)
        joined = [re.sub(r"\s", "", text[name["start"] : name["end"]]) for name in expected]
        assert ["".join(example.words[name.start : name.end]) for name in entities] == joined
        assert [name.kind for name in entities] == [name["entity_group"] for name in expected]
        assert [name.probability for name in entities] == pytest.approx([name["score"] for name in expected], abs=1e-5)
        kinds |= {name.kind for name in entities}
    assert len(kinds) > 1


def test_the_answer_is_the_span_with_the_best_score(hub: Any) -> None:
    store, folder, _ = hub
    tokenizer = AutoTokenizer.from_pretrained(folder / "question")
    reader = AutoModelForQuestionAnswering.from_pretrained(folder / "question")
    model, view = store.trained("question"), view_of("question")
    for text in TEXTS:
        inputs = tokenizer(QUESTION, text, return_offsets_mapping=True, return_tensors="pt")
        places, segments = inputs.pop("offset_mapping")[0].tolist(), inputs.sequence_ids()
        with torch.inference_mode():
            output = reader(**inputs)
        start, end = output.start_logits[0], output.end_logits[0]
        spans = [
            (float(start[a] + end[b]), places[a][0], places[b][1])
            for a, segment in enumerate(segments)
            for b in range(a, min(a + 30, len(segments)))
            if segment == segments[b] == 1
        ]
        best = model.answers([view.example_of([QUESTION, text])])[0].best[0]
        assert (best.start, best.end) == max(spans)[1:]


def test_they_are_pinned_and_fetched_as_safetensors_alone(hub: Any) -> None:
    store, _, asked = hub
    for kind in HUB_MODELS:
        assert not store.ready(kind)
        store.get(kind)
        assert store.ready(kind)
    assert {name for name in asked if name} <= {
        "config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "model.safetensors",
    }  # fmt: skip
    for kind, model in HUB_MODELS.items():
        assert re.fullmatch(r"[0-9a-f]{40}", model.revision)
        assert (model.key, bool(model.data), bool(model.licence)) == (kind, True, True)


def test_their_weights_are_within_the_memory(hub: Any) -> None:
    store, _, _ = hub
    loaded = store.get("sentence")
    trained = store.trained("sentence")
    assert trained.model.encoder is loaded.model.base_model  # not copied
    small = HubModels(Budget(10), store.models)
    with pytest.raises(UserError):
        small.get("sentence")


def test_a_model_of_another_kind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("entities", tmp_path / "sentence")
    with family_hub(tmp_path, monkeypatch), pytest.raises(UserError, match=r"its config\.json says 'bert'"):
        HubModels(models={"sentence": spec("sentence")}).get("sentence")


def test_without_a_hub_a_sentence_says_so() -> None:
    with pytest.raises(UserError, match="could not be downloaded from the Hugging Face Hub just now"):
        HubModels().get("sentence")


def test_the_licences_are_those_of_the_adapters_readme() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = {cells[1].strip(): cells for line in readme.splitlines() if len(cells := line.split("|")) > 4}
    for kind, row in {"sentence": "sentiment", "entities": "entities", "question": "questions"}.items():
        licence = re.match(r"CC [A-Z-]+ [\d.]+", LICENCES[kind])
        assert licence
        assert rows[row][3].strip().startswith(licence[0]), kind
        assert TRAINED_ON[kind].startswith("our ")
        assert rows[row][2].strip().startswith("our ")

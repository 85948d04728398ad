"""A kept run as a transformers folder: every form gives the run's own answers, one of them in a fresh process."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForMultipleChoice,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    DistilBertConfig,
    DistilBertModel,
    pipeline,
)

from demos.bert.embeddings.agreement import Pair
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.export import modeling_head
from demos.training.export.transformers_folder import Form, export, form_of
from demos.training.learning.earlier import DOWNLOADED, head_of, read_head
from demos.training.learning.model import Model, Trained, load_encoder
from demos.training.tasks.classification.data import Example
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.entities.data import TaggedSentence
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.multi_label.data import LabelledSentence
from demos.training.tasks.multi_label.task import MultiLabel
from demos.training.tasks.multiple_choice.data import ChoiceExample
from demos.training.tasks.multiple_choice.task import MultipleChoice
from demos.training.tasks.question_answering.task import QuestionAnswering
from demos.training.tasks.siamese.task import Siamese
from demos.training.tasks.similarity.task import Similarity

LABELS = ("no", "perhaps", "```\n---", "<b>|", "`yes`", "é 好")
TEXTS = ["The river bank is green.", "slow", "A window of seven stones, yesterday, under the paper bank in the north."]
LONG = 0.00001
ASK = """
import json, sys
from transformers import pipeline
found = []
for folder, own in (("stock", False), ("own", True)):
    ask = pipeline("text-classification", model=folder, top_k=None, trust_remote_code=own)
    found.append([{one["label"]: one["score"] for one in row} for row in ask(json.loads(sys.argv[1]), batch_size=3)])
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def distil() -> Any:
    """A random DistilBERT over the bundled vocabulary."""
    torch.manual_seed(3)
    return DistilBertModel(
        DistilBertConfig(vocab_size=30522, dim=32, n_layers=2, n_heads=4, hidden_dim=64, attn_implementation="eager")
    ).eval()


def trained_on(task: Any, encoder: Any, tokenizer: Any) -> Trained:
    """As after a training: weights that say something, so that the answers differ."""
    head = task.head(encoder.config.hidden_size, torch.Generator().manual_seed(1)).eval()
    for parameter in head.parameters():
        parameter.data = parameter.data * 12 + 0.05 * torch.arange(parameter.shape[0]).view(
            -1, *[1] * (parameter.ndim - 1)
        )
    return Trained(Model(encoder, head.requires_grad_(False), tokenizer), task, 24)


def loaded_from(folder: Path, form: Form, auto: Any) -> Any:
    """The model, every weight of it in the folder and none left over."""
    classes = getattr(modeling_head, form.architecture) if form.why_own else auto
    model, told = classes.from_pretrained(folder, output_loading_info=True)
    assert not any(told.values()), told
    assert type(model).__name__ == form.architecture
    return model.eval()


@pytest.mark.parametrize(
    ("architecture", "pooling", "hidden", "activation", "stock"),
    [
        ("bert", "mean", (), "tanh", False),  # the default recipe
        ("bert", "cls", (), "tanh", False),
        ("bert", "mean", (20,), "tanh", False),
        ("bert", "cls", (32,), "tanh", True),
        ("bert", "cls", (32,), "gelu", False),
        ("bert", "mean", (32,), "tanh", False),
        ("bert", "max", (), "tanh", False),
        ("bert", "cls", (20, 10), "tanh", False),
        ("bert", "none", (), "tanh", False),
        ("distilbert", "none", (20,), "tanh", False),
        ("distilbert", "mean", (), "tanh", False),
        ("distilbert", "cls", (), "tanh", False),
        ("distilbert", "cls", (32,), "relu", True),
        ("distilbert", "cls", (32,), "tanh", False),
    ],
)
def test_a_classifier_gives_the_same_probabilities(
    tiny: LoadedModel, distil: Any, tmp_path: Path, architecture: str, pooling: str, hidden: Any, activation: str,
    stock: bool,
) -> None:  # fmt: skip
    encoder = tiny.model if architecture == "bert" else distil
    trained = trained_on(
        Classification(LABELS, pooling=pooling, hidden=hidden, activation=activation).fitted(24),
        encoder,
        tiny.tokenizer,
    )
    form = export(trained, tmp_path / "kept")
    assert bool(form.why_own) != stock
    model = loaded_from(tmp_path / "kept", form, AutoModelForSequenceClassification)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "kept")
    inputs = tokenizer(TEXTS, padding=True, truncation=True, return_tensors="pt")
    if architecture == "distilbert":
        inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        found = model(**inputs).logits.softmax(dim=-1)
    expected = torch.tensor(trained.predict(TEXTS))
    torch.testing.assert_close(found, expected, rtol=0, atol=LONG)
    assert (expected.max(dim=1).values - expected.min(dim=1).values).min() > 0.01  # else everything would agree
    assert tokenizer.model_max_length == 24
    assert tuple(model.config.id2label.values()) == LABELS
    assert sorted(path.suffix for path in (tmp_path / "kept").iterdir() if path.suffix in (".bin", ".pt")) == []


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_what_leaves_the_server_names_no_place_on_it(tiny: LoadedModel, tmp_path: Path, pooling: str) -> None:
    kept = tmp_path / "secret-run-id"
    task = Classification(("a", "b"), pooling=pooling)
    tiny.model.save_pretrained(kept)
    encoder = load_encoder(kept)
    assert "secret-run-id" in encoder.config.name_or_path
    export(trained_on(task, encoder, tiny.tokenizer), tmp_path / "out")
    for file in (tmp_path / "out").rglob("*"):
        if file.is_file():
            assert b"secret-run-id" not in file.read_bytes(), file.name


def test_the_bundled_model_with_the_default_recipe_keeps_its_layers_and_can_be_trained_further(
    bundled: LoadedModel, tmp_path: Path
) -> None:
    trained = trained_on(Classification(("a", "b", "c")), bundled.model, bundled.tokenizer)
    form = export(trained, tmp_path)
    assert form == form_of(trained.task, bundled.model.config)
    assert form.architecture == "HeadForSequenceClassification"
    model = loaded_from(tmp_path, form, AutoModelForSequenceClassification)
    assert model.encoder.config.num_hidden_layers == 6
    inputs = bundled.tokenizer(TEXTS, padding=True, return_tensors="pt")
    expected = torch.tensor(trained.predict(TEXTS))
    with torch.inference_mode():
        found = model(**inputs).logits.softmax(dim=-1)
        half = model.to(torch.bfloat16)(**inputs).logits.softmax(dim=-1).float()
    torch.testing.assert_close(found, expected, rtol=0, atol=LONG)
    torch.testing.assert_close(half, expected, rtol=0, atol=0.05)
    model = model.float()
    told = model(**inputs, labels=torch.tensor([2, 0, 1]))
    told.loss.backward()
    chances = told.logits.softmax(dim=-1)[range(3), [2, 0, 1]]
    assert told.loss.item() == pytest.approx(-chances.log().mean().item(), rel=1e-5)
    assert all(one.grad is not None for one in model.head.parameters())
    assert model.encoder.embeddings.word_embeddings.weight.grad.abs().sum() > 0


@pytest.mark.slow
def test_a_fresh_process_predicts_the_same_with_pipeline(tiny: LoadedModel, tmp_path: Path) -> None:
    folders = {}
    for name, task in (("stock", Classification(LABELS, pooling="cls", hidden=(32,))), ("own", Classification(LABELS))):
        folders[name] = trained_on(task, tiny.model, tiny.tokenizer)
        export(folders[name], tmp_path / name)
    environment = {**os.environ, "HF_MODULES_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(TEXTS)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False, encoding="utf-8",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
    for found, trained in zip(json.loads(ended.stdout.splitlines()[-1]), folders.values(), strict=True):
        for row, expected in zip(found, trained.predict(TEXTS), strict=True):
            assert [row[label] for label in LABELS] == pytest.approx(expected, abs=LONG)


@pytest.mark.parametrize("hidden", [(), (16,)])
def test_a_tagger_gives_each_word_the_same_label(tiny: LoadedModel, tmp_path: Path, hidden: tuple[int, ...]) -> None:
    trained = trained_on(Entities(("O", "B-PER", "I-PER"), hidden=hidden), tiny.model, tiny.tokenizer)
    form = export(trained, tmp_path)
    model = loaded_from(tmp_path, form, AutoModelForTokenClassification)
    assert bool(form.why_own) == bool(hidden)
    words = ("Henson", "made", "puppets")
    (answer,) = trained.answers([TaggedSentence(words, (0, 0, 0))])
    inputs = tiny.tokenizer(list(words), is_split_into_words=True, return_tensors="pt")
    with torch.inference_mode():
        chances = model(**inputs).logits[0].softmax(dim=-1)
    first = [inputs.word_ids().index(word) for word in range(len(words))]
    assert [label for label, _ in answer] == chances[first].argmax(dim=-1).tolist()
    assert [chance for _, chance in answer] == pytest.approx(chances[first].max(dim=-1).values.tolist(), abs=LONG)


@pytest.mark.parametrize("hidden", [(), (16,)])
def test_a_question_answerer_scores_each_token_alike(tiny: LoadedModel, tmp_path: Path, hidden: Any) -> None:
    trained = trained_on(QuestionAnswering(hidden=hidden), tiny.model, tiny.tokenizer)
    form = export(trained, tmp_path)
    model = loaded_from(tmp_path, form, AutoModelForQuestionAnswering)
    inputs = tiny.tokenizer("Who made it?", "Jim Henson made puppets.", return_tensors="pt")
    with torch.inference_mode():
        found = model(**inputs)
        expected = trained.model.head(tiny.model(**inputs).last_hidden_state)
    torch.testing.assert_close(torch.stack([found.start_logits, found.end_logits], dim=-1), expected)
    places = {"start_positions": torch.tensor([7]), "end_positions": torch.tensor([8])}
    chances = expected.log_softmax(dim=1)
    loss = -(chances[0, 7, 0] + chances[0, 8, 1]) / 2
    assert model(**inputs, **places).loss.item() == pytest.approx(loss.item(), rel=1e-4)


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_a_chooser_gives_each_ending_the_same_chance(tiny: LoadedModel, tmp_path: Path, pooling: str) -> None:
    trained = trained_on(MultipleChoice(3, pooling=pooling), tiny.model, tiny.tokenizer)
    form = export(trained, tmp_path)
    model = loaded_from(tmp_path, form, AutoModelForMultipleChoice)
    endings = ("green", "a window under seven stones", "of paper")
    (expected,) = trained.answers([ChoiceExample("The bank", "was", endings, 0)])
    inputs = tiny.tokenizer(["The bank was"] * 3, list(endings), padding=True, return_tensors="pt")
    with torch.inference_mode():
        found = model(**{name: value[None] for name, value in inputs.items()}).logits.softmax(dim=-1)[0]
    assert found.tolist() == pytest.approx(expected, abs=LONG)


@pytest.mark.parametrize(("pooling", "hidden"), [("cls", (32,)), ("mean", ()), ("none", ())])
def test_a_rater_gives_the_same_number_and_its_loss(
    tiny: LoadedModel, tmp_path: Path, pooling: str, hidden: tuple[int, ...]
) -> None:
    task = Similarity(trained_range=(0.0, 2.6, 5.0), pooling=pooling, hidden=hidden).fitted(16)
    trained = trained_on(task, tiny.model, tiny.tokenizer)
    form = export(trained, tmp_path)
    model = loaded_from(tmp_path, form, AutoModelForSequenceClassification)
    assert (form.why_own == "") == (pooling == "cls")
    assert (model.config.problem_type, model.config.num_labels) == ("regression", 1)
    ((expected,),) = trained.answers([Pair("The bank", "is green", 0.0)])
    inputs = tiny.tokenizer("The bank", "is green", return_tensors="pt")
    told = model(**inputs, labels=torch.tensor([4.0]))
    assert told.logits.item() == pytest.approx(expected, abs=LONG)
    assert told.loss.item() == pytest.approx((expected - 4.0) ** 2, rel=1e-4)
    rate = pipeline("text-classification", model=model, tokenizer=trained.model.tokenizer)
    (found,) = rate([{"text": "The bank", "text_pair": "is green"}])
    assert (found["label"], found["score"]) == ("score", pytest.approx(expected, abs=LONG))
    (tmp_path / DOWNLOADED).write_text(
        '{"task": "similarity"}', encoding="utf-8"
    )  # as a download has it: a run may begin with it
    again = read_head(tmp_path)
    assert again.of == head_of(task)
    last = [layer for layer in trained.model.head.modules() if isinstance(layer, torch.nn.Linear)][-1]
    assert torch.equal(again.linears[-1][1], last.bias)


@pytest.mark.parametrize(("pooling", "hidden"), [("cls", (32,)), ("mean", ())])
def test_a_single_text_has_the_same_score_in_transformers_pipeline(
    tiny: LoadedModel, tmp_path: Path, pooling: str, hidden: tuple[int, ...]
) -> None:
    of_run: dict[str, Any] = {"trained_range": (1.0, 4.6, 10.0), "pooling": pooling, "hidden": hidden, "single": True}
    task = Similarity(**of_run, points=tuple(range(1, 11)))
    trained = trained_on(task, tiny.model, tiny.tokenizer)
    model = loaded_from(tmp_path, export(trained, tmp_path), AutoModelForSequenceClassification)
    assert (model.config.problem_type, model.config.num_labels) == ("regression", 1)
    rate = pipeline("text-classification", model=model, tokenizer=AutoTokenizer.from_pretrained(tmp_path))
    for text, (expected,) in zip(TEXTS, trained.answers([Pair(text, "", 0.0) for text in TEXTS]), strict=True):
        (found,) = rate(text, truncation=True)
        assert (found["label"], found["score"]) == ("score from 1 to 10", pytest.approx(expected, abs=LONG))
    (tmp_path / DOWNLOADED).write_text('{"task": "similarity"}', encoding="utf-8")
    again = read_head(tmp_path)
    assert again.of == head_of(task)
    for other in (Similarity(**of_run, points=(1, 5)), Similarity(**of_run | {"single": False})):
        assert not again.of.fits(head_of(other))  # another scale is learned from the start


@pytest.mark.parametrize(("pooling", "hidden"), [("cls", (32,)), ("mean", ()), ("none", ())])
def test_labels_have_the_same_probabilities_in_transformers_pipeline(
    tiny: LoadedModel, tmp_path: Path, pooling: str, hidden: tuple[int, ...]
) -> None:
    trained = trained_on(MultiLabel(LABELS, pooling=pooling, hidden=hidden).fitted(24), tiny.model, tiny.tokenizer)
    form = export(trained, tmp_path)
    model = loaded_from(tmp_path, form, AutoModelForSequenceClassification)
    assert (form.why_own == "") == (pooling == "cls")
    assert (model.config.problem_type, model.config.num_labels) == ("multi_label_classification", len(LABELS))
    expected = trained.answers([LabelledSentence(text, ()) for text in TEXTS])
    classify = pipeline(
        "text-classification", model=model, tokenizer=AutoTokenizer.from_pretrained(tmp_path), top_k=None
    )
    for found, chances in zip(classify(TEXTS, truncation=True), expected, strict=True):
        assert [{one["label"]: one["score"] for one in found}[label] for label in LABELS] == pytest.approx(
            chances, abs=LONG
        )
        assert sum(chances) > 1.01 or sum(chances) < 0.99  # no softmax
    inputs = tiny.tokenizer(TEXTS, padding=True, truncation=True, max_length=24, return_tensors="pt")
    marks = torch.tensor([[1.0, 0, 1, 0, 0, 0], [0] * 6, [0, 1, 1, 1, 0, 1]])
    told = model(**inputs, labels=marks)
    loss = torch.nn.BCEWithLogitsLoss()(torch.tensor(expected).logit(), marks)
    assert told.loss.item() == pytest.approx(loss.item(), rel=1e-4)
    (tmp_path / DOWNLOADED).write_text('{"task": "labels"}', encoding="utf-8")  # a run may begin with a download
    again = read_head(tmp_path)
    assert again.of == head_of(trained.task)
    assert again.of != head_of(Classification(LABELS, pooling=pooling, hidden=hidden))


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_a_chooser_and_a_tagger_tell_their_loss(tiny: LoadedModel, tmp_path: Path, pooling: str) -> None:
    form = export(trained_on(MultipleChoice(2, pooling=pooling), tiny.model, tiny.tokenizer), tmp_path / "choice")
    chooser = loaded_from(tmp_path / "choice", form, AutoModelForMultipleChoice)
    inputs = tiny.tokenizer(["The bank was"] * 2, ["green", "of paper"], padding=True, return_tensors="pt")
    told = chooser(**{name: value[None] for name, value in inputs.items()}, labels=torch.tensor([1]))
    assert told.loss.item() == pytest.approx(-told.logits.log_softmax(dim=-1)[0, 1].item())
    form = export(
        trained_on(Entities(("O", "B-PER", "I-PER"), hidden=(16,)), tiny.model, tiny.tokenizer), tmp_path / "tags"
    )
    tagger = loaded_from(tmp_path / "tags", form, AutoModelForTokenClassification)
    inputs = tiny.tokenizer("Henson", return_tensors="pt")
    labels = torch.full(inputs["input_ids"].shape, -100)
    labels[0, 1] = 2  # the name's first piece alone
    told = tagger(**inputs, labels=labels)
    assert told.loss.item() == pytest.approx(-told.logits.log_softmax(dim=-1)[0, 1, 2].item(), rel=1e-4)


def test_pairs_are_one_sequence_with_two_segments(tiny: LoadedModel, tmp_path: Path) -> None:
    trained = trained_on(Classification(("different", "same")), tiny.model, tiny.tokenizer)
    model = loaded_from(tmp_path, export(trained, tmp_path), AutoModelForSequenceClassification)
    (expected,) = trained.answers([Example(TEXTS[0], 0, TEXTS[1])])
    with torch.inference_mode():
        found = model(**tiny.tokenizer(TEXTS[0], TEXTS[1], return_tensors="pt")).logits.softmax(dim=-1)[0]
    assert found.tolist() == pytest.approx(expected, abs=LONG)


def test_an_encoder_without_a_head_is_refused(tiny: LoadedModel) -> None:
    with pytest.raises(UserError, match="head"):
        form_of(Siamese("mean", 5.0), tiny.model.config)

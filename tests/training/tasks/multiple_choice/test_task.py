"""Multiple choice: its arithmetic is transformers' BertForMultipleChoice; its files are SWAG's and others'."""

import json
from pathlib import Path

import pytest
import torch
from transformers import BertForMultipleChoice

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.events import Finished, as_json
from demos.training.learning.model import Trained, collate, last_states
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.sources import load_file
from demos.training.tasks.multiple_choice.data import READER, ChoiceDataset, ChoiceExample, build_choices
from demos.training.tasks.multiple_choice.task import ChoiceResult, MultipleChoice, example_of

ENDINGS = ("she opens the umbrella.", "the moon is made of green cheese today.", "he eats.", "they all go home.")
EXAMPLES = [
    ChoiceExample("It begins to rain.", "At once", ENDINGS, 0),
    ChoiceExample("The film is over, and the lights go on again.", "", ENDINGS, 3),
    ChoiceExample("He is hungry.", "In the kitchen", ENDINGS[::-1], 1),
]


def test_logits_and_loss_are_bertformultiplechoices(tiny: LoadedModel) -> None:
    """The same encoder and the same V. Its V is read off the pooler's vector, ours here off the [CLS] vector: the
    pooler is made to pass its input on, once as it is and once through our own dense layer with tanh."""
    for hidden in ((), (32,)):
        task = MultipleChoice(4, pooling="cls", hidden=hidden, dropout=0.0)
        head = task.head(32, torch.Generator().manual_seed(1)).eval()
        batch = collate(task, task.features(tiny.tokenizer, EXAMPLES, 64), 0, torch.device("cpu"))
        assert batch.input_ids.shape[0] == 12
        theirs = BertForMultipleChoice(tiny.model.config).eval()
        theirs.bert.load_state_dict(tiny.model.state_dict(), strict=False)
        last = [layer for layer in head if isinstance(layer, torch.nn.Linear)]
        theirs.classifier.load_state_dict(last[-1].state_dict())
        if hidden:
            theirs.bert.pooler.dense.load_state_dict(last[0].state_dict())
        else:
            theirs.bert.pooler.forward = lambda states: states[:, 0]
        both = [
            tiny.tokenizer(f"{e.context} {e.start}".strip(), end, return_tensors="pt")
            for e in EXAMPLES
            for end in e.endings
        ]
        for row, one in enumerate(both):  # each sequence is what the tokenizer makes of the two texts
            kept = batch.attention_mask[row].bool()
            assert batch.input_ids[row][kept].tolist() == one["input_ids"][0].tolist()
            assert batch.token_type_ids[row][kept].tolist() == one["token_type_ids"][0].tolist()
        with torch.inference_mode():
            ours = task.logits(head, last_states(tiny.model, batch), batch)
            shape = (3, 4, -1)
            output = theirs(
                input_ids=batch.input_ids.view(shape),
                attention_mask=batch.attention_mask.view(shape),
                token_type_ids=batch.token_type_ids.view(shape),
                labels=batch.targets,
            )
        assert ours.shape == (3, 4)
        torch.testing.assert_close(ours, output.logits, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(task.loss(ours, batch.targets), output.loss, atol=1e-5, rtol=1e-5)
        assert task.answers(ours, batch)[1] == pytest.approx(output.logits[1].softmax(-1).tolist(), abs=1e-5)


def items(count: int) -> ChoiceDataset:
    """The ending with the word "good" is right."""
    rows = []
    for k in range(count):
        endings = [f"a bad end {k} {at}" for at in range(4)]
        endings[k % 4] = f"a good end {k}"
        rows.append(f"it begins {k}\tand then\t" + "\t".join(endings) + f"\t{k % 4}")
    header = "context\tstart\tending0\tending1\tending2\tending3\tlabel"
    return build_choices("good", READER.read("\n".join([header, *rows]).encode(), "good.tsv").rows)


def test_a_training_ends_with_margins_mistakes_and_a_model_that_answers(base: Path, tmp_path: Path) -> None:
    data = items(120)
    settings = Settings(epochs=2, batch_size=8, learning_rate=3e-3, max_length=24, threads=1)
    *_, last = train(data, base, settings, tmp_path / "run")
    assert isinstance(last, Finished)
    result = last.result
    assert isinstance(result, ChoiceResult)
    taken = [max(range(4), key=row.__getitem__) for row in result.answers]
    right = [at == example.label for at, example in zip(taken, data.test, strict=True)]
    assert result.metrics == {"accuracy": sum(right) / len(right)}
    assert result.accuracy > 0.9  # one word tells
    assert [margin > 0 for margin in result.margins] == right
    assert len(result.mistakes) == right.count(False)
    assert result.majority_accuracy == sum(e.label == "ABCD".index(result.majority_label) for e in data.test) / 24
    trained = Trained.read(tmp_path / "run")
    assert isinstance(trained.task, MultipleChoice)
    kept = trained.answers(data.test[:3])
    assert all(row == pytest.approx(told, abs=1e-3) for row, told in zip(kept, result.answers, strict=False))
    (own,) = trained.answers([example_of(["it begins", "and then", "a bad end\na good end\na bad one\nno end"])])
    assert max(own) == own[1]
    (two,) = trained.answers([example_of(["it begins", "and then", "a bad end | a good end"])])
    assert len(two) == 2
    assert sum(two) == pytest.approx(1)
    told = as_json(last)
    assert told["result"]["metrics"] == result.metrics
    assert "answers" not in told["result"]
    json.dumps(told)


SWAG = (
    "\n".join(
        [
            ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3,label",
            *(
                f'{k},v,1,A man {k} sits. He,A man {k} sits.,He,gold,"a, {k}",b {k},c {k},d {k},{k % 4}'
                for k in range(40)
            ),
        ]
    ),
    "swag.csv",
)
HELLASWAG = (
    "\n".join(
        json.dumps(
            {"ctx": f"A man {k} sits. He", "ctx_a": f"A man {k} sits.", "ctx_b": "He", "label": str(k % 4),
             "endings": [f"a, {k}", f"b {k}", f"c {k}", f"d {k}"]}
        )
        for k in range(40)
    ),
    "hellaswag.jsonl",
)  # fmt: skip
ARC = (
    json.dumps(
        [
            {"context": f"A man {k} sits.", "question": "He", "answerKey": "ABCD"[k % 4],
             "choices": {"text": [f"a, {k}", f"b {k}", f"c {k}", f"d {k}"], "label": list("ABCD")}}
            for k in range(40)
        ]
    ),
    "arc.json",
)  # fmt: skip
ONE_BASED = (
    "premise\tquestion\tchoice1\tchoice2\tchoice3\tchoice4\tanswer\n"
    + "\n".join(f"A man {k} sits.\tHe\ta, {k}\tb {k}\tc {k}\td {k}\t{k % 4 + 1}" for k in range(40)),
    "copa.tsv",
)


@pytest.mark.parametrize(("text", "name"), [SWAG, HELLASWAG, ARC, ONE_BASED])
def test_every_form_gives_the_same_items(text: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    data = load_file("choice", tmp_path / name)
    assert isinstance(data, ChoiceDataset)
    found = {example for split in (data.train, data.validation, data.test) for example in split}
    wanted = {
        ChoiceExample(f"A man {k} sits.", "He", (f"a, {k}", f"b {k}", f"c {k}", f"d {k}"), k % 4) for k in range(40)
    }
    assert found == wanted
    assert data.counts("test") == (2, 2, 2, 2)
    assert len(data.train) + len(data.validation) + len(data.test) == 40


HEAD = "context,ending0,ending1,label\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("text,label\na,b\n", "No columns contain a context and its endings; name them context, start"),
        ("context,ending0,ending1\na,b,c\n", "No column is named label"),
        (f"{HEAD},b,c,0\n", "No columns contain a context"),
        (f"{HEAD}a,b,c,0\n,b,c,0\n", "Row 3 has no context"),
        (f"{HEAD}a,b,c,0\na,b,,0\n", "Row 3 has 1 ending; there must be 2 to 8"),
        (f"{HEAD}a,b,c,0\na,B,b,0\n", "Row 3 has the same ending twice"),
        (f"{HEAD}a,b,c,0\na,b,c,2\n", "Row 3 has the label '2'"),
        (f"{HEAD}a,b,c,0\na,b,c,\n", "Row 3 has the label ''"),
        (f"{HEAD}a,b,c,0\na,b,c,none\n", "Row 3 has the label 'none'"),
        (f"{HEAD}a,b,c,0\na,{'x' * 2_001},c,1\n", "Row 3 has a text of 2,001 characters"),
        (f"{HEAD}a,b,c,0\nb,b,c,1\n", "There are 2 different items; at least 20"),
        ("context,ending0,ending1,ending2,label\na,b,c,d,0\na,b,c,,0\n", "Row 3 has 2 endings, but the first"),
        ("context,ending0,ending1,ending2,label\na,b,c,d,0\na,b,,d,0\n", "Row 3 has an empty ending, B"),
    ],
)
def test_a_broken_item_is_named(text: str, told: str) -> None:
    with pytest.raises(UserError) as refused:
        build_choices("f", READER.read(text.encode(), "f.csv").rows)
    assert told in str(refused.value)


def test_an_item_with_its_endings_in_another_order_is_the_same() -> None:
    rows = [f"start {k},one {k},two {k},{k % 2}" for k in range(30)]
    turned = [f"Start  {k},two {k},one {k},{1 - k % 2}" for k in range(4)]
    data = build_choices("f", READER.read((HEAD + "\n".join(rows + turned)).encode(), "f.csv").rows)
    assert len(data.train) + len(data.validation) + len(data.test) == 30
    assert data.notes[0].startswith("4 items removed")


@pytest.mark.parametrize(
    ("boxes", "told"),
    [([], "what happens first"), (["a"], "2 to 8 endings"), (["a", "", "one"], "not 1"), (["", "", "a\nb"], "first")],
)
def test_a_box_left_empty_is_told(boxes: list[str], told: str) -> None:
    with pytest.raises(UserError, match=told):
        example_of(boxes)

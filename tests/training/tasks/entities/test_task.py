"""The entity task against transformers: its pieces, its loss and logits; a whole training against seqeval."""

import dataclasses
import pickle
from pathlib import Path

import pytest
import torch
from seqeval.metrics import f1_score, precision_score, recall_score
from transformers import AutoTokenizer, BertForTokenClassification

from demos.bert.model.models import LoadedModel
from demos.training.events import Epoch, Finished, Started, as_json
from demos.training.learning.model import Trained, collate, last_states, load_encoder
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.sources import SOURCES
from demos.training.tasks.entities.data import EntityDataset, TaggedSentence, build_entities, example_of
from demos.training.tasks.entities.events import TagResult
from demos.training.tasks.entities.tags import TaggedRow
from demos.training.tasks.entities.task import Entities, cut_sentences, telling_sentences
from demos.training.tasks.task import NO_LABEL, Ended

LABELS = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
HENSON = TaggedSentence(("Jim", "Papadimitriou", "lived", "in", "Leland", "."), (3, 4, 0, 0, 1, 0))


@pytest.fixture(scope="module")
def names() -> EntityDataset:
    """60 sentences in which the words anna and boston are entities, between words that are none."""
    rows = []
    for k in range(60):
        words = ["river", "stone", "anna", "papadimitriou", "green", "boston", f"w{k}"][k % 3 :]
        tags = {"anna": "B-PER", "papadimitriou": "I-PER", "boston": "B-LOC"}
        rows.append(TaggedRow(k, tuple(words), tuple(tags.get(word, "O") for word in words)))
    return build_entities("names", rows)


def test_words_are_cut_as_transformers_cuts_them(base: Path, tiny: LoadedModel) -> None:
    """`is_split_into_words`, on a tokenizer of our own: -100 under every piece but each word's first."""
    examples = [
        *SOURCES["entities"].load(0, 1_500).train[:80],
        HENSON,
        example_of(["Zoë's 東京 trip: €3.50, n'est-ce?"]),
    ]
    own = AutoTokenizer.from_pretrained(base)
    task = Entities(SOURCES["entities"].load(0, 1_500).labels)  # type: ignore[attr-defined]
    for length in (8, 128):
        features = task.features(tiny.tokenizer, examples, length)
        theirs = own(
            [list(one.words) for one in examples], is_split_into_words=True, truncation=True, max_length=length
        )
        assert [list(one.sequences[0]) for one in features] == theirs["input_ids"]
        for row, (feature, example) in enumerate(zip(features, examples, strict=True)):
            previous, wanted = None, []
            for word in theirs.word_ids(row):
                wanted.append(NO_LABEL if word is None or word == previous else example.labels[word])
                previous = word
            assert task.targets([feature], len(wanted))[0].tolist() == wanted
            assert feature.cut == (len(own(list(example.words), is_split_into_words=True)["input_ids"]) > length)


def test_loss_logits_and_answers_are_transformers(base: Path, tiny: LoadedModel) -> None:
    task = Entities(LABELS, dropout=0.1)
    head = task.head(32, torch.Generator().manual_seed(1)).eval()
    theirs = BertForTokenClassification.from_pretrained(base, num_labels=len(LABELS)).eval()
    theirs.classifier.load_state_dict(head[1].state_dict())
    examples = [HENSON, TaggedSentence(("Boston", "slept"), (1, 0))]
    batch = collate(task, task.features(tiny.tokenizer, examples, 64), 0, torch.device("cpu"))
    with torch.no_grad():
        logits = task.logits(head, last_states(load_encoder(base), batch), batch)
        wanted = theirs(batch.input_ids, attention_mask=batch.attention_mask, labels=batch.targets)
    real = batch.attention_mask.bool()
    assert torch.allclose(logits[real], wanted.logits[real], atol=1e-5)
    assert task.loss(logits, batch.targets).item() == pytest.approx(wanted.loss.item(), abs=1e-5)
    assert task.units(batch.targets) == 8
    chances = wanted.logits.softmax(-1)
    for row, (example, answer) in enumerate(zip(examples, task.answers(logits, batch), strict=True)):
        places = (batch.targets[row] != NO_LABEL).nonzero().flatten().tolist()
        assert len(answer) == len(places) == len(example.words)
        for place, (label, chance) in zip(places, answer, strict=True):
            assert label == int(chances[row, place].argmax())
            assert chance == pytest.approx(float(chances[row, place].max()), abs=1e-5)
    hits = (wanted.logits.argmax(-1) == batch.targets)[batch.targets != NO_LABEL].float().mean()
    assert task.batch_score(logits, batch.targets) == hits


def test_every_word_has_an_answer_and_what_fell_off_counts_as_missed(tiny: LoadedModel) -> None:
    task = Entities(LABELS)
    odd = TaggedSentence(("\x01", "Boston", "\u200b"), (0, 1, 0))
    (feature,) = task.features(tiny.tokenizer, [odd], 64)
    assert len(feature.extra) == 3
    assert tiny.tokenizer.unk_token_id in feature.sequences[0]
    (short,) = task.features(tiny.tokenizer, [HENSON], 5)
    assert short.cut
    assert len(short.extra) < len(HENSON.words)
    assert task.targets([short], 5)[0].tolist()[-1] == NO_LABEL
    answer = tuple((label, 0.9) for label in HENSON.labels[: len(short.extra)])
    look = task.look(0, 0.0, 0.0, 0.0, [answer], [HENSON.labels])
    assert look.validation_score == pytest.approx(2 * 1 / (1 + 2))  # of two entities the second was not read


def test_a_training_learns_tells_seqevals_scores_and_is_kept(
    names: EntityDataset, base: Path, quick: Settings, tmp_path: Path
) -> None:
    settings = dataclasses.replace(quick, epochs=6, learning_rate=1e-2)
    events = list(train(names, base, settings, tmp_path / "run"))
    started, finished = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(finished, Finished)
    assert started.metric == "entity F1"
    assert (started.baseline, started.baseline_score) == ("each word's most frequent tag", 1.0)
    swapped = dataclasses.replace(names, test=names.validation, validation=names.test)
    assert started.baseline_watched == Entities.of(swapped, settings).baseline(swapped)[1]
    result = finished.result
    assert isinstance(result, TagResult)
    trained = Trained.read(result.folder)
    task = trained.task
    assert isinstance(task, Entities)
    assert task.labels == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    answers = trained.answers(names.test)
    true = [task.tags(example.labels) for example in names.test]
    found = [task.tags([label for label, _ in answer]) for answer in answers]
    wanted = {"entity F1": f1_score(true, found), "precision": precision_score(true, found)}
    assert result.metrics == pytest.approx(wanted | {"recall": recall_score(true, found)})
    assert result.metrics["entity F1"] > 0.9
    looks = [event for event in events if isinstance(event, Epoch)]
    assert looks[-1].validation_score > looks[0].validation_score
    assert repr(pickle.loads(pickle.dumps(events))) == repr(events)
    assert as_json(finished)["result"]["scores"]["total"]["f1"] == pytest.approx(result.metrics["entity F1"])
    (span,) = task.entities_of(trained.answers([example_of(["Boston"])])[0])
    assert (span.start, span.end, span.kind) == (0, 1, "LOC")
    assert 0 < span.probability <= 1


def test_mistakes_are_whole_sentences_the_surest_first(names: EntityDataset) -> None:
    task = Entities(names.labels)
    ended = _ended()
    answers = [[(label, 0.5) for label in example.labels] for example in names.test]
    answers[0][0] = (1, 0.6)
    answers[1][0] = (1, 0.8)
    answers[2] = answers[2][:0]  # nothing was read
    result = task.outcome(names, [tuple(row) for row in answers], ended)
    assert result.wrong == len(result.mistakes) == 3
    assert [mistake.words for mistake in result.mistakes] == [names.test[k].words for k in (1, 0, 2)]
    assert result.mistakes[0].found[0].probability == pytest.approx(0.8)
    assert (result.mistakes[2].found, result.mistakes[2].read, result.cut) == ((), 0, 1)
    assert result.strict.found == result.scores.total.found - 1  # an I- was left behind by an entity's new beginning


def test_class_weights_count_words(names: EntityDataset) -> None:
    task = Entities.of(names, Settings(class_weights=True))
    counts = names.label_counts("train")
    assert task.weights == pytest.approx([sum(counts) / (5 * max(1, count)) for count in counts])


def test_the_baseline_of_our_own_data_is_its_datasheets() -> None:
    data = SOURCES["entities"].load(0, 1_500)
    told, score = Entities(data.labels).baseline(data)  # type: ignore[attr-defined,arg-type]
    assert told == "each word's most frequent tag"
    assert score == pytest.approx(0.11, abs=0.01)


def test_the_lectures_table(bundled: LoadedModel) -> None:
    (cut,) = cut_sentences(bundled.tokenizer, LABELS, [HENSON])
    assert cut.tokens[:3] == ("[CLS]", "jim", "papa")
    assert cut.tokens[-1] == "[SEP]"
    assert [(cut.word[k], cut.labels[k]) for k in (0, 1, 2, 3, -1)] == [
        (None, ""), (0, "B-PER"), (1, "I-PER"), (1, ""), (None, ""),
    ]  # fmt: skip
    data = SOURCES["entities"].load(0, 1_500)
    shown = telling_sentences(bundled.tokenizer, data)  # type: ignore[arg-type]
    assert len(shown) == 3
    for one in shown:
        inside = zip(one.tokens, one.labels, one.labels[1:], strict=False)
        assert any(label[1:2] == "-" and not after for _, label, after in inside)
        assert len(one.tokens) <= 20
    assert {label[2:] for one in shown for label in one.labels if label[1:2] == "-"} == {"LOC", "ORG", "PER"}


def _ended() -> Ended:
    return Ended(loss=0.1, loss_before=1.0, steps=1, seconds=1.0, examples_per_second=1.0, folder="", before=[])

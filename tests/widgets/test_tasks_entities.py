"""The entity task's pictures and words, against the numbers they are made of; what users wrote is escaped."""

import html
import re
from dataclasses import replace

import pytest

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.sources import SOURCES
from demos.training.tasks.entities.data import EntityDataset, build_entities, example_of
from demos.training.tasks.entities.events import TagResult
from demos.training.tasks.entities.tags import TaggedRow
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.task import Ended
from demos.widgets.tasks.entities.view import EntityView
from tests.one_line import flat
from tests.plotly_figure import plotly

VIEW = EntityView()
NASTY = "<img/src=x>${alert(1)}{{7*7}}"


def text_of(shown: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", shown)).split())


@pytest.fixture(scope="module")
def data() -> EntityDataset:
    """Sentences of five words; what users wrote is a word of one, a type, and the data set's name."""
    rows = [
        TaggedRow(k, ("Ann", "Lee", "left", f"w{k}", "Rome"), ("B-PER", "I-PER", "O", "O", f"B-{NASTY}"))
        for k in range(20)
    ]
    rows[19] = TaggedRow(19, (NASTY, "and", "Bo", "left", "Rome"), ("B-PER", "O", "O", "O", f"B-{NASTY}"))
    return build_entities(NASTY, rows)


def result_of(data: EntityDataset, changes: dict[int, tuple[str, ...]]) -> TagResult:
    """A result whose answers are right but for these test sentences."""
    task = Entities(data.labels)
    answers = [tuple((label, 0.75) for label in example.labels) for example in data.test]
    for place, tags in changes.items():
        answers[place] = tuple((task.labels.index(tag), 0.9) for tag in tags)
    ended = Ended(loss=0.4, loss_before=1.0, steps=3, seconds=1.0, examples_per_second=9.0, folder="", before=[])
    return task.outcome(data, answers, ended)


@pytest.fixture(scope="module")
def result(data: EntityDataset) -> TagResult:
    place = f"B-{NASTY}"
    assert [len(example.words) for example in data.test] == [5] * 4
    return result_of(
        data,
        {
            0: ("B-PER", "O", "O", "B-PER", place),  # a wrong border, an invented one
            1: ("B-PER", "I-PER", "O", "O", "B-PER"),  # a wrong type
            2: ("O", "I-PER", "O", "O", "O"),  # an I- alone: a wrong border; one missed
        },
    )


def test_the_lectures_table_stands_above_the_counts(bundled: LoadedModel) -> None:
    data = SOURCES["entities"].load(0, 1_500)
    shown = flat(VIEW.data(data, bundled.tokenizer))
    tables = re.findall(r"<ol.*?</ol>", shown)
    assert len(tables) == 5
    for table in tables:
        chips = re.findall(
            r'<li class="chip ([^"]*)"><span class="piece">(.*?)</span><span class="below[^>]*>(.*?)<', table
        )
        chips = re.findall(r'<li class="chip ([^"]*)">(.*?)</li>', table)
        told = [(kinds, *text_of(inside).rsplit(" ", 1)) for kinds, inside in chips]
        assert told[0][1:] == ("[CLS]", "-100")
        assert told[-1][1:] == ("[SEP]", "-100")
        assert {label for kinds, _, label in told if "joined" in kinds} == {"X"}
        assert not any(label == "X" for kinds, _, label in told if "joined" not in kinds)
    said = text_of(shown)
    assert "267 sentences for training, 39 for validation, 77 for the final test" in said
    assert all(f"{kind} {count}" in said for kind, count in zip(data.types, data.counts("train"), strict=True))  # type: ignore[attr-defined]


def test_the_lectures_sentence_has_its_labels_in_both_vocabularies(bundled: LoadedModel) -> None:
    shown = flat(VIEW.data(SOURCES["entities"].load(0, 1_500), bundled.tokenizer))
    uncased, cased = (text_of(table) for table in re.findall(r"<ol.*?</ol>", shown)[-2:])
    assert uncased == "[CLS] -100 jim B-PER henson I-PER was O a O puppet O ## eer X [SEP] -100"
    assert cased == "[CLS] -100 Jim B-PER He I-PER ## nson X was O a O puppet O ## eer X [SEP] -100"


def test_scores_stand_beside_the_baseline(result: TagResult) -> None:
    told = text_of(VIEW.scores(result, True))
    for value in (*result.metrics.values(), result.baseline_scores.total.f1, *(one.f1 for one in result.scores.types)):
        assert f"{value:.3f}" in told
    assert "stopped early" in told
    assert f"strict IOB2), F1 is {result.strict.f1:.3f}" in told
    assert f"per word is {result.word_accuracy:.1%}, but {result.outside:.1%} of all words are O" in told
    assert "strict" not in text_of(VIEW.scores(replace(result, strict=result.scores.total), False))


def test_the_bars_are_the_entities(result: TagResult) -> None:
    figure = plotly(VIEW.figure(result))
    bars = {bar.name.rsplit(" ", 1)[0]: bar for bar in figure.data}
    for kind, one in enumerate(result.scores.types):
        there = [bars[name].x[kind] for name in ("found", "wrong border", "wrong type", "missed")]
        assert sum(there) == one.true
        assert there[0] == one.hits
    order = [one.name for one in result.ways]
    assert bars["invented"].x[order.index("PER")] == -1
    assert bars["wrong border"].x[order.index("PER")] == 2
    assert "<img" not in figure.to_json()
    many = [[f"B-T{k}"] for k in range(20)]
    wide = build_entities("x", [TaggedRow(k, (f"w{k}",), tuple(many[k % 20])) for k in range(200)])
    assert len(plotly(VIEW.figure(result_of(wide, {}))).layout.yaxis.ticktext) == 20


def test_mistakes_show_what_is_there_and_what_was_found(result: TagResult) -> None:
    shown = VIEW.mistakes(result)
    assert shown.count("<li>") == result.wrong == 3
    for said in ("Ann PER 90% wrong border", "PER 90% invented", "Rome PER 90% wrong type", "missed", "3 in total"):
        assert said in text_of(shown)
    assert "and nothing else" in VIEW.mistakes(replace(result, mistakes=(), wrong=0))


def test_a_long_sentence_is_shown_around_its_mistake() -> None:
    words = (*(f"w{k}" for k in range(300)), "Rome", *(f"x{k}" for k in range(300)))
    tags = (*["O"] * 300, "B-LOC", *["O"] * 300)
    rows = [TaggedRow(k, ("Rome", f"u{k}"), ("B-LOC", "O"), "train") for k in range(20)]
    data = build_entities("x", [*rows, TaggedRow(50, words, tags, "test")])
    told = text_of(VIEW.mistakes(result_of(data, {0: ("O",) * 601})))
    assert "Rome LOC missed" in told
    assert told.count("w2") < 40


def test_numbers_tell_every_row(result: TagResult) -> None:
    told = text_of(VIEW.numbers(result, [[0, None, 1.2, 0.0], [4, 0.9, 0.8, 0.5]], 4))
    for one in (*result.scores.types, result.scores.total, result.strict):
        assert f"{one.precision:.3f} {one.recall:.3f} {one.f1:.3f} {one.true} {one.found}" in told
    for way in result.ways:
        assert f"{way.right} {way.wrong_border} {way.wrong_type} {way.missed} {way.invented}" in told
    assert "1.00 0.900 0.800 0.500" in told


def test_the_try_it_box_marks_names_in_the_sentence() -> None:
    task = Entities(("O", "B-LOC", "I-LOC"))
    answer = ((0, 0.9), (1, 0.8), (2, 0.6), (0, 0.99))
    shown = VIEW.answer(task, answer, ["in New York."])
    assert "in New York LOC 70% ." in text_of(shown)
    assert "York I-LOC 60.0%" in text_of(shown)
    cut = VIEW.answer(task, answer[:2], ["in New York."])
    assert "2 more truncated" in text_of(cut)
    nothing = VIEW.answer(task, ((0, 0.9),) * 4, ["in New York."])
    assert "No name was found" in text_of(nothing)
    assert "without an entity before it" in text_of(VIEW.answer(task, ((2, 0.9),), ["York"]))
    with pytest.raises(UserError, match="Type a sentence"):
        VIEW.answer(task, (), [" "])


def test_what_users_wrote_is_escaped_everywhere(data: EntityDataset, result: TagResult, bundled: LoadedModel) -> None:
    task = Entities(data.labels)
    shown = [
        VIEW.data(data, bundled.tokenizer),
        VIEW.scores(result, False),
        VIEW.mistakes(result),
        VIEW.numbers(result, [], 1),
        VIEW.answer(task, ((1, 0.5),) * 20, [f"{NASTY} <script>alert(1)</script>"]),
    ]
    assert all("<img" not in one and "<script" not in one for one in shown)
    assert all("&lt;img" in one for one in shown)


def test_the_samples_are_read() -> None:
    ((label, sample),) = VIEW.boxes
    assert label
    assert {"Anna", "Bergen", "Lisbon"} <= set(example_of([sample]).words)

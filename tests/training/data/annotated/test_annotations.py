"""The exports of annotation tools: which annotation counts, where spans are, and one sentence for what is broken."""

import json
import random
from contextlib import suppress
from typing import Any

import pytest

from demos.errors import UserError
from demos.training.data.annotated.spans import place_of, split_words, word_places, word_tags
from demos.training.data.file_tables import Table, read_table
from demos.training.sources import reader_of
from tests.training.data.shapes import as_json, minimal, prodigy, studio_choices, studio_spans, studio_task


def read(*records: Any, name: str = "a.json") -> Table:
    return read_table(as_json(list(records)), name)


def of_rows(table: Table, *columns: str) -> list[tuple[Any, ...]]:
    """Each row's cells of these columns."""
    places = [table.header.index(column) for column in columns]
    return [tuple(cells[place] for place in places) for _, cells in table.rows]


def spanned(text: str, *spans: tuple[int, int, str], quoted: str = "") -> dict[str, Any]:
    """A text in JSON-MIN with spans of characters."""
    more = {"text": quoted} if quoted else {}
    return {"text": text, "label": [{"start": a, "end": b, "labels": [kind]} | more for a, b, kind in spans]}


def test_of_several_annotations_the_ground_truth_counts_or_the_first_that_was_not_cancelled() -> None:
    first, second = studio_task(0, studio_choices("Negative")), studio_task(1, studio_choices("Negative"))
    other = studio_task(0, studio_choices("Positive"))["annotations"][0]
    first["annotations"].append(other)
    second["annotations"].append(other | {"ground_truth": True})
    third = studio_task(2, [], cancelled=True)
    third["annotations"].append(other)
    table = read(first, second, third)
    assert of_rows(table, "sentiment") == [(["Negative"],), (["Positive"],), (["Positive"],)]
    assert table.read_as.left_out == ()
    assert table.read_as.remarks == ("2 rows with several annotations; the first counts, or the ground truth.",)


def test_every_control_is_a_column_and_what_says_how_it_was_annotated_is_none() -> None:
    topic = studio_choices("Door")[0] | {"from_name": "topic"}
    table = read(studio_task(0, [*studio_choices("Negative"), topic]), studio_task(1, studio_choices("Positive")))
    assert table.header == ("text", "source", "sentiment", "topic")
    assert of_rows(table, "sentiment", "topic") == [(["Negative"], ["Door"]), (["Positive"], None)]
    assert read(minimal(0, q="a"), minimal(1, q="b")).header == ("text", "id", "q")
    assert read(prodigy(0, label="a"), prodigy(1, label="b")).header == ("text", "label")


def test_a_task_may_have_choices_and_spans() -> None:
    table = read(
        studio_task(0, studio_choices("Positive") + studio_spans(0)), studio_task(1, studio_choices("Negative"))
    )
    assert [labels for (labels,) in of_rows(table, "sentiment")] == [["Positive"], ["Negative"]]
    tags = [[tag for tag in tags if tag != "O"] for (tags,) in of_rows(table, "tags")]
    assert tags == [["B-PER", "B-LOC", "I-LOC"], []]


@pytest.mark.parametrize(
    ("record", "words", "tags", "remark"),
    [
        (spanned("Ann Lee isn't in Paris.", (0, 7, "PER"), (17, 22, "LOC")),
         "Ann Lee is n't in Paris .", "B-PER I-PER O O O B-LOC O", ""),
        (spanned("in Paris-based", (3, 8, "LOC")), "in Paris-based", "O B-LOC",
         "1 span widened to the whole words that they touch."),
        (spanned("in Paris now", (2, 9, "LOC")), "in Paris now", "O B-LOC O", ""),  # blanks at the ends are no words
        (spanned("Bank of York", (8, 12, "LOC"), (0, 12, "ORG")), "Bank of York", "B-ORG I-ORG I-ORG",
         "1 span left out: a word has one tag, and these share words with longer ones."),
        (spanned("🎉🎉 in Paris", (8, 13, "LOC"), quoted="Paris"), "🎉 🎉 in Paris", "O O O B-LOC",
         "1 span moved to the nearest place that has the text which the file quotes."),
        (spanned("Rome, Rome", (8, 12, "LOC"), quoted="Rome"), "Rome , Rome", "O O B-LOC",
         "1 span moved to the nearest place that has the text which the file quotes."),
        (spanned("a day", (1, 2, "LOC"), (90, 99, "LOC"), (0, 0, "LOC")), "a day", "O O", ""),
    ],
)  # fmt: skip
def test_spans_are_tags_of_words(record: dict[str, Any], words: str, tags: str, remark: str) -> None:
    table = read(record)
    assert of_rows(table, "tokens", "tags") == [(words.split(), tags.split())]
    assert table.read_as.remarks == ((remark,) if remark else ())


@pytest.mark.parametrize("seed", range(5))
def test_spans_of_whole_words_come_back_from_their_tags(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        text = "".join(
            chance.choices(["Ann", "'s", " ", "  ", "\n", "-", ".", ",", "é", "🎉", "don't", "3", "(", "\u0301"], k=12)
        )
        words = split_words(text)
        places = word_places(text, words)
        assert [text[start:end] for start, end in places] == words
        edges = sorted(chance.sample(range(len(words) + 1), k=min(4, (len(words) + 1) // 2 * 2)))
        ranges = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]
        spans = [(places[a][0], places[b - 1][1], f"T{a}") for a, b in ranges]
        expected = ["O"] * len(words)
        for a, b in ranges:
            expected[a:b] = [f"B-T{a}", *[f"I-T{a}"] * (b - a - 1)]
        chance.shuffle(spans)
        assert word_tags(places, spans) == expected


def test_a_quoted_text_is_found_at_its_nearest_place() -> None:
    assert place_of("Rome, Rome", 1, 5, "Rome") == (0, 4)
    assert place_of("Rome, Rome", 6, 10, "Rome") == (6, 10)
    assert place_of("Rome, Rome", 3, 5, "Oslo") == (3, 5)
    assert place_of("Rome", 9, 12, "Rome") == (0, 4)


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([studio_task(0, None), studio_task(1, [], cancelled=True)],
         "No row has an annotation that can be used; 1 has no annotation and 1 has a canceled annotation."),
        ([prodigy(k, "ignore", label="a") for k in range(3)],
         "No row has an annotation that can be used; 3 have an ignored annotation."),
        ([minimal(0, label=[{"start": "/p[1]", "end": 3, "labels": ["PER"]}])],
         "Row 1 has a span without a start and an end, which are counts of characters."),
        ([prodigy(0, spans=[{"start": 5, "end": 2, "label": "PER"}])], "Row 1 has a span without a start and an end"),
        ([{"label": [{"start": 0, "end": 3, "labels": ["PER"]}]}], "Row 1 has spans and no text."),
    ],
)  # fmt: skip
def test_what_can_not_be_used_is_one_sentence(records: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(UserError, match="^" + said.replace("(", r"\(")):
        read(*records)


def test_other_json_is_no_export() -> None:
    question = {"question": {"stem": "Why?", "choices": [{"label": "A", "text": "so"}]}, "answerKey": "A"}
    listed = {"question": "Why?", "choices": {"text": ["so", "no"], "label": ["A", "B"]}, "answerKey": "A"}
    for record in (question, listed, {"text": "a", "answer": "yes"}, {"data": [], "annotations": []}):
        assert read(record, record).export is None


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_export_is_read_or_refused_in_one_sentence(seed: int) -> None:
    """Values of other kinds in any place of an export."""
    chance = random.Random(seed)
    odd = (None, 5, -1, "x", [], {}, [None], [{}], {"choices": None}, True, 1.5)

    def damaged(value: Any) -> Any:
        if chance.random() < 0.06:
            return chance.choice(odd)
        if isinstance(value, dict):
            return {key: damaged(each) for key, each in value.items()}
        return [damaged(each) for each in value] if isinstance(value, list) else value

    for _ in range(60):
        tasks = [studio_task(k, studio_choices("A") + studio_spans(k)) for k in range(3)]
        tasks += [
            minimal(k, label=[one["value"] for one in studio_spans(k)], q={"choices": ["A", "B"]}) for k in range(3)
        ]
        tasks += [
            prodigy(k, spans=[{"start": 0, "end": 3, "label": "PER"}], accept=["A"], options=[]) for k in range(3)
        ]
        kind = chance.randrange(3)
        records = [damaged(record) for record in tasks[3 * kind : 3 * kind + 3]]
        for task in ("sentence", "labels", "entities"):
            with suppress(UserError):
                reader_of(task).read(json.dumps(records).encode(), "a.json")

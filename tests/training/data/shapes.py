"""Files in the shapes that people download or export, their contents made here: what each is to be read as."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from tests.training.data.workbook_files import workbook

Value = str | list[str]


@dataclass(frozen=True)
class Shape:
    """A file, the task that it is for, its columns by role, its classes and how many rows are left out."""

    name: str
    held: bytes
    task: str
    columns: Mapping[str, Value]
    labels: Mapping[str, int]
    left_out: Mapping[str, int] = field(default_factory=dict)
    sure: bool = True


def table(rows: Sequence[Sequence[Any]], between: str = ",", encoding: str = "utf-8") -> bytes:
    """Rows as a spreadsheet writes them."""
    text = io.StringIO()
    csv.writer(text, delimiter=between, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(encoding)


def lines(records: Sequence[Mapping[str, Any]]) -> bytes:
    """One object of JSON a line."""
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records).encode()


PLACES = ("harbour", "station", "library", "market", "garden", "bakery", "museum", "school", "bridge", "cinema")
SMS = [["v1", "v2", "", "", ""]]
SMS += [["ham", f"See you at the {place}, bring £5", "", "", ""] for place in PLACES]
SMS += [["ham", "Wait for me, ok", " then call", "", ""]]
SMS += [["spam", f"You have won {k}00 pounds! Call now", "", "", ""] for k in range(1, 9)]
TWEETS = [
    ["tweet_id", "mood_sentiment", "mood_sentiment_confidence", "reason", "shop", "mood_sentiment_gold", "name", "text",
     "retweet_count", "created", "link"],
    *(
        [str(9 * 10**14 + k), ("glad", "cross", "neither")[k % 3], f"0.{k + 11}", "late" if k % 3 == 1 else "",
         ("North", "South")[k % 2], "", f"user{k:02}", f"@shop what about the order for the {PLACES[k % 10]}, no. {k}?",
         str(k % 2), f"2021-03-{k % 28 + 1:02} 10:00:00", f"https://example.com/{k}"]
        for k in range(24)
    ),
]  # fmt: skip
NEWS = [["Class Index", "Title", "Description"]]
NEWS += [
    [
        str(k % 4 + 1),
        f"News of the {PLACES[k % 10]} ({k})",
        f"The {PLACES[k % 10]} was opened again by number {k} of us.",
    ]
    for k in range(24)
]
COLA = [
    ["ab12", str(k % 2), "" if k % 2 else "*", f"We {'saw' if k % 2 else 'saw of'} the {PLACES[k % 10]} {k}."]
    for k in range(30)
]
SNLI = [
    {
        "votes": ["yes", "no"], "captionID": f"{k}.jpg#0", "gold_label": ("entailment", "neutral", "-")[k % 3],
        "sentence1": f"A man paints the {PLACES[k % 10]} in picture {k}.",
        "sentence1_parse": f"(ROOT (S A man paints the (NP {PLACES[k % 10]}) {k}))",
        "sentence2": f"Somebody is at work in picture {k}.",
    }
    for k in range(30)
]  # fmt: skip
GERMEVAL = "\n".join(
    f"1\tAnna{k}\tB-PER\tO\n2\tsieht\tO\tO\n3\tStadtwerke\tB-ORG\tO\n4\tBonn\tI-ORG\tB-LOC\n5\t.\tO\tO\n"
    for k in range(12)
)
TICKETS = [
    {"id": 100 + k, "text": f"Ticket {k} about the {PLACES[k % 10]} door", "label": [("lock", "light")[k % 2]]}
    for k in range(24)
]
PAIRS = [["id", "qid1", "qid2", "question1", "question2", "is_duplicate"]]
PAIRS += [
    [str(k), str(2 * k + 1), str(2 * k + 2), f'Where is "{place}" {k}?', f"How do I find number {k}?", str(k % 2)]
    for k, place in enumerate(PLACES * 3)
]
INDEXED = [["", "text", "label"]]
INDEXED += [[str(k), f"a good {PLACES[k % 10]} {k}", f"{k % 2}.0"] for k in range(16)]
INDEXED += [[str(k), f"a poor {PLACES[k % 10]} {k}", str(k % 2)] for k in range(14)]
PHRASES = [["PhraseId", "SentenceId", "Phrase", "Sentiment"]]
PHRASES += [[str(k + 1), str(k // 5 + 1), f"the {PLACES[k // 5]} of part {k}", str(k % 5)] for k in range(40)]
ALIKE = [["text", "label"]]
ALIKE += [[f"note {k} of the day", ("fête", "fe\u0302te", "travail", "travail\u200b")[k % 4]] for k in range(32)]

REVIEWS = [["review", "sentiment"]]
REVIEWS += [[f"A {('dull', 'fine')[k % 2]} film, {k}.<br />", ("negative", "positive")[k % 2]] for k in range(20)]
WON = ("neg", "pos")
FASTTEXT = "".join(f"__label__{WON[k % 2]} The {place} is open, {k}\n" for k, place in enumerate(PLACES * 3))
BANK = "".join(f"Sales rose {k} % at the {PLACES[k % 10]} .@{('neutral', 'positive')[k % 2]}\n" for k in range(30))
POSTS = [
    [
        str(4 * (k % 2)),
        str(15_000 + k),
        "Mon Apr 06 22:19:49 PDT 2009",
        "NO_QUERY",
        f"user{k}",
        f"@b my day {k}, so good é",
    ]
    for k in range(30)
]
PANX = "".join(f"en:Anna{k}\tB-PER\nen:lives\tO\nen:here\tO\n\n" for k in range(12))
REMARKED = "".join(
    f"#\thttps://example.org/{k} [2010-01-01]\n1\tAnna{k}\tB-PER\tO\n2\tlebt\tO\tO\n\n" for k in range(12)
)
WORDS = [["Sentence #", "Word", "POS", "Tag"]]
for k in range(12):
    WORDS += [[f"Sentence: {k}", f"New York {k}", "NNP", "B-geo"], ["", "café", "NN", "O"]]
TOPICS = [
    {"text": f"Ticket {k} on the {PLACES[k % 10]}", "label": [["lock"], ["light", "lock"], []][k % 3]}
    for k in range(24)
]
FLAGS = [["id", "comment_text", "rude", "threat", "spam"]]
FLAGS += [
    [f"{k:04x}", f"This is comment {k} on the {PLACES[k % 10]}", str(k % 2), str(int(k % 3 == 0)), str(int(k % 5 == 0))]
    for k in range(30)
]

STARS = [["id", "review", "stars"]]
STARS += [[str(70 + k), f"The {PLACES[k % 10]} was worth {k} visits", str(k * 3 % 5 + 1)] for k in range(40)]
MARKS = [
    {"comment": f"We {('left', 'stayed')[k % 2]} after {k} minutes", "rating": None if k % 11 == 4 else k * 7 % 10 + 1}
    for k in range(60)
]

MOODS = ("Negative", "Positive")


def visit(k: int) -> str:
    """A text with two names, one of them a part of a word."""
    return f"The {PLACES[k % 10]} of Anna{k}-Lee isn't open in New York, {k}."


def spans_of_visit(k: int, *kinds: str) -> list[dict[str, Any]]:
    """Its names as stretches of characters."""
    found = zip((f"Anna{k}", "New York"), kinds, strict=True)
    return [{"start": (at := visit(k).index(name)), "end": at + len(name), "label": kind} for name, kind in found]


def studio_task(k: int, results: Sequence[Mapping[str, Any]] | None, cancelled: bool = False) -> dict[str, Any]:
    """A task as Label Studio exports it; without `results` nobody annotated it."""
    annotation = {
        "id": 900 + k, "completed_by": 1, "result": results, "was_cancelled": cancelled, "ground_truth": False,
        "created_at": "2024-03-01T10:00:00.000000Z", "lead_time": 3.25, "result_count": 1, "task": k, "project": 3,
    }  # fmt: skip
    return {
        "id": k, "annotations": [annotation] * (results is not None), "file_upload": "a1b2-visits.csv", "drafts": [],
        "predictions": [], "data": {"text": visit(k), "source": ("web", "post")[k // 2 % 2]}, "meta": {},
        "inner_id": k, "total_annotations": 1, "updated_by": 1, "comment_authors": [],
    }  # fmt: skip


def studio_choices(*names: str) -> list[dict[str, Any]]:
    """What was chosen of Label Studio's choices."""
    value = {"choices": list(names)}
    return (
        [{"value": value, "id": "x1", "from_name": "sentiment", "to_name": "text", "type": "choices"}] if names else []
    )


def studio_spans(k: int) -> list[dict[str, Any]]:
    """What was marked with Label Studio's labels: the kind in a list, the text beside it."""
    return [
        {
            "value": {"start": one["start"], "end": one["end"], "text": visit(k)[one["start"] : one["end"]],
                      "labels": [one["label"]]},
            "id": "y1", "from_name": "label", "to_name": "text", "type": "labels", "origin": "manual",
        }
        for one in spans_of_visit(k, "PER", "LOC")
    ]  # fmt: skip


def minimal(k: int, **chosen: Any) -> dict[str, Any]:
    """An annotation of Label Studio's JSON-MIN."""
    about = {
        "annotator": 1 + k % 2, "annotation_id": 900 + k, "created_at": "2024-03-01T10:00:00.000000Z",
        "updated_at": "2024-03-01T10:00:00.000000Z", "lead_time": 3.25,
    }  # fmt: skip
    return {"text": visit(k), "id": k} | chosen | about


def prodigy(k: int, answer: str = "accept", **more: Any) -> dict[str, Any]:
    """An example of Prodigy's with its answer."""
    hashes = {"_input_hash": -1530009927 + k, "_task_hash": 48 + k}
    return {"text": visit(k), "meta": {"row": k}} | hashes | more | {"answer": answer, "_timestamp": 1700000000 + k}


def prodigy_tokens(k: int) -> list[dict[str, Any]]:
    """spaCy's tokens of the text, as Prodigy has them: one for each stretch without a blank."""
    found = re.finditer(r"\S+", visit(k))
    return [{"text": one[0], "start": one.start(), "end": one.end(), "id": at} for at, one in enumerate(found)]


OPTIONS = [{"id": "lock", "text": "Lock 🔒"}, {"id": "light", "text": "Light"}]
SKIPPED = ("accept", "accept", "accept", "accept", "reject", "ignore")


def as_json(value: Any) -> bytes:
    """A value as JSON."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


SURVEY = ("Nr", "Beitrag", "Stimmung")
ANSWERS = [(k, f"we like the {place} {k}", ("gut", "so")[k % 2]) for k, place in enumerate(PLACES * 2)]


def packed(name: str, held: bytes) -> bytes:
    """A zip archive of one file and a text beside it, as macOS packs them."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(f"data/{name}", held)
        archive.writestr("data/LICENSE", "free")
        archive.writestr(f"__MACOSX/data/._{name}", "x")
    return whole.getvalue()


def parquet(rows: Sequence[Sequence[Any]]) -> bytes:
    """Rows, the first of them names, as pandas writes them."""
    whole = io.BytesIO()
    pd.DataFrame(rows[1:], columns=rows[0]).to_parquet(whole)
    return whole.getvalue()


SHAPES = {
    "a download with empty columns": Shape(
        "sms.csv", table(SMS, encoding="cp1252"), "sentence", {"text": "v2", "label": "v1"}, {"ham": 11, "spam": 8},
    ),
    "reviews in quotes": Shape(
        "reviews.csv", table(REVIEWS), "sentence", {"text": "review", "label": "sentiment"},
        {"negative": 10, "positive": 10},
    ),
    "eleven columns": Shape(
        "tweets.csv", table(TWEETS), "sentence", {"text": "text", "label": "mood_sentiment"},
        {"cross": 8, "glad": 8, "neither": 8},
    ),
    "a title and a description": Shape(
        "news.csv", table(NEWS), "sentence", {"text": ["Title", "Description"], "label": "Class Index"},
        {"1": 6, "2": 6, "3": 6, "4": 6}, sure=False,
    ),
    "no header": Shape(
        "cola.tsv", "".join("\t".join(row) + "\n" for row in COLA).encode(), "sentence",
        {"text": "column 4", "label": "column 2"}, {"0": 15, "1": 15},
    ),
    "a dash for no label": Shape(
        "snli.jsonl", lines(SNLI), "pair", {"sentence1": "sentence1", "sentence2": "sentence2", "label": "gold_label"},
        {"entailment": 10, "neutral": 10}, {"no label": 10},
    ),
    "numbered tokens, two columns of tags": Shape(
        "germeval.tsv", GERMEVAL.encode(), "entities", {"tokens": "column 2", "tags": "column 3"},
        {"ORG": 12, "PER": 12}, sure=False,
    ),
    "a list of one label": Shape(
        "tickets.jsonl", lines(TICKETS), "sentence", {"text": "text", "label": "label"}, {"light": 12, "lock": 12},
    ),
    "stray quotes between tabs": Shape(
        "questions.tsv", "".join("\t".join(row) + "\n" for row in PAIRS).encode(), "pair",
        {"sentence1": "question1", "sentence2": "question2", "label": "is_duplicate"}, {"0": 15, "1": 15},
    ),
    "an index, and labels as 1 and 1.0": Shape(
        "indexed.csv", table(INDEXED), "sentence", {"text": "text", "label": "label"}, {"0": 15, "1": 15},
    ),
    "phrases of sentences": Shape(
        "phrases.tsv", table(PHRASES, "\t"), "sentence",
        {"text": "Phrase", "label": "Sentiment", "group": "SentenceId"}, {str(k): 8 for k in range(5)},
    ),
    "labels that look alike": Shape(
        "alike.csv", table(ALIKE), "sentence", {"text": "text", "label": "label"}, {"fête": 16, "travail": 16},
    ),
    "fastText's lines": Shape(
        "train.txt", FASTTEXT.encode(), "sentence", {"text": "text", "label": "label"}, {"neg": 15, "pos": 15},
    ),
    "a text, an @ and its label": Shape(
        "bank.txt", BANK.encode("latin-1"), "sentence", {"text": "text", "label": "label"},
        {"neutral": 15, "positive": 15},
    ),
    "six columns without a header": Shape(
        "posts.csv", table(POSTS, encoding="latin-1"), "sentence", {"text": "column 6", "label": "column 1"},
        {"0": 15, "4": 15},
    ),
    "a language before each token": Shape(
        "panx.tsv", PANX.encode(), "entities", {"tokens": "column 1", "tags": "column 2"}, {"PER": 12},
    ),
    "lines of remarks among numbered tokens": Shape(
        "remarks.tsv", REMARKED.encode(), "entities", {"tokens": "column 2", "tags": "column 3"}, {"PER": 12},
    ),
    "a word a row, some with a blank": Shape(
        "words.csv", table(WORDS, encoding="cp1252"), "entities",
        {"tokens": "Word", "tags": "Tag", "group": "Sentence #"}, {"geo": 12},
    ),
    "a zip archive": Shape(
        "archive.zip", packed("phrases.tsv", table(PHRASES, "\t")), "sentence",
        {"text": "Phrase", "label": "Sentiment", "group": "SentenceId"}, {str(k): 8 for k in range(5)},
    ),
    "a Parquet file": Shape(
        "tweets.parquet", parquet(TWEETS), "sentence", {"text": "text", "label": "mood_sentiment"},
        {"cross": 8, "glad": 8, "neither": 8},
    ),
    "lists of labels": Shape(
        "topics.jsonl", lines(TOPICS), "labels", {"text": "text", "labels": "label"}, {"light": 8, "lock": 16},
    ),
    "columns of 0 and 1": Shape(
        "flags.csv", table(FLAGS), "labels", {"text": "comment_text", "labels": ["rude", "threat", "spam"]},
        {"rude": 15, "spam": 6, "threat": 10},
    ),
    "stars": Shape(
        "stars.csv", table(STARS), "sentence", {"text": "review", "label": "stars"}, {str(k): 8 for k in range(1, 6)},
    ),
    "marks from 1 to 10, some missing": Shape(
        "marks.jsonl", lines(MARKS), "sentence", {"text": "comment", "label": "rating"},
        {str(k): sum(mark["rating"] == k for mark in MARKS) for k in range(1, 11)}, {"no label": 6},
    ),
    "titles above the header": Shape(
        "survey.csv", b"Survey of the spring;;\n\nRoom 12;;\n" + table([SURVEY, *ANSWERS], ";"),
        "sentence", {"text": "Beitrag", "label": "Stimmung"}, {"gut": 10, "so": 10},
    ),
    "titles above the header of a workbook": Shape(
        "survey.xlsx", workbook([("Survey",), (), SURVEY, *ANSWERS]), "sentence",
        {"text": "Beitrag", "label": "Stimmung"}, {"gut": 10, "so": 10},
    ),
    "a workbook of which one sheet can be trained on": Shape(
        "survey.xlsx",
        workbook([("Code", "Meaning"), ("gut", "good"), ("so", "neither")], [SURVEY, *ANSWERS], [], first="Codes"),
        "sentence", {"text": "Beitrag", "label": "Stimmung"}, {"gut": 10, "so": 10},
    ),
    "Label Studio's choices": Shape(
        "project-3.json",
        as_json([
            *(studio_task(k, studio_choices(MOODS[k % 2])) for k in range(20)), studio_task(20, None),
            studio_task(21, [], cancelled=True), studio_task(22, []), studio_task(23, None),
        ]),
        "sentence", {"text": "text", "label": "sentiment"}, {"Negative": 10, "Positive": 10},
        {"no annotation": 2, "a canceled annotation": 1, "no label": 1},
    ),
    "Label Studio's choices, of which several may be chosen": Shape(
        "project-3.json", as_json([studio_task(k, studio_choices(*(MOODS, MOODS[:1], ())[k % 3])) for k in range(24)]),
        "labels", {"text": "text", "labels": "sentiment"}, {"Negative": 16, "Positive": 8},
    ),
    "Label Studio's spans": Shape(
        "project-3.json", as_json([studio_task(k, studio_spans(k) if k else None) for k in range(15)]), "entities",
        {"tokens": "tokens", "tags": "tags"}, {"LOC": 14, "PER": 14}, {"no annotation": 1},
    ),
    "JSON-MIN of one choice": Shape(
        "project-3-min.json", as_json([minimal(k, **({"sentiment": MOODS[k % 2]} if k else {})) for k in range(21)]),
        "sentence", {"text": "text", "label": "sentiment"}, {"Negative": 10, "Positive": 10}, {"no label": 1},
    ),
    "JSON-MIN of a choice with a name that says nothing": Shape(
        "project-3-min.json", as_json([minimal(k, q1=MOODS[k % 2]) for k in range(20)]), "sentence",
        {"text": "text", "label": "q1"}, {"Negative": 10, "Positive": 10},
    ),
    "JSON-MIN of several choices": Shape(
        "project-3-min.json",
        as_json([minimal(k, sentiment={"choices": (MOODS, MOODS[1:])[k % 2]}) for k in range(20)]),
        "labels", {"text": "text", "labels": "sentiment"}, {"Negative": 10, "Positive": 20},
    ),
    "JSON-MIN of spans": Shape(
        "project-3-min.json", as_json([minimal(k, label=[one["value"] for one in studio_spans(k)]) for k in range(15)]),
        "entities", {"tokens": "tokens", "tags": "tags"}, {"LOC": 15, "PER": 15},
    ),
    "Prodigy's labels": Shape(
        "textcat.jsonl",
        lines([prodigy(k, SKIPPED[k % 6], label=("lock", "light")[k % 2], spans=[]) for k in range(30)]),
        "sentence", {"text": "text", "label": "label"}, {"light": 10, "lock": 10},
        {"a rejected annotation": 5, "an ignored annotation": 5},
    ),
    "Prodigy's only label, accepted or rejected": Shape(
        "textcat.jsonl", lines([prodigy(k, SKIPPED[k % 6], label="lock") for k in range(36)]),
        "sentence", {"text": "text", "label": "label"}, {"lock": 24, "not lock": 6}, {"an ignored annotation": 6},
    ),
    "Prodigy's options, one chosen": Shape(
        "choice.jsonl",
        lines([prodigy(k, SKIPPED[k % 6], options=OPTIONS, accept=[("lock", "light")[k % 2]]) for k in range(30)]),
        "sentence", {"text": "text", "label": "label"}, {"light": 10, "lock": 10},
        {"a rejected annotation": 5, "an ignored annotation": 5},
    ),
    "Prodigy's options, several chosen": Shape(
        "choice.jsonl",
        lines([
            prodigy(k, SKIPPED[k % 6], options=OPTIONS, accept=(["lock"], ["light", "lock"], [])[k % 3])
            for k in range(30)
        ]),
        "labels", {"text": "text", "labels": "label"}, {"light": 5, "lock": 15},
        {"a rejected annotation": 5, "an ignored annotation": 5},
    ),
    "Prodigy's spans over its tokens": Shape(
        "ner.jsonl",
        lines([
            prodigy(k, SKIPPED[k % 6], tokens=prodigy_tokens(k), spans=spans_of_visit(k, "PER", "LOC"))
            for k in range(18)
        ]),
        "entities", {"tokens": "tokens", "tags": "tags"}, {"LOC": 12, "PER": 12},
        {"a rejected annotation": 3, "an ignored annotation": 3},
    ),
    "Prodigy's spans without tokens": Shape(
        "ner.jsonl", lines([prodigy(k, spans=spans_of_visit(k, "PER", "LOC")) for k in range(15)]),
        "entities", {"tokens": "tokens", "tags": "tags"}, {"LOC": 15, "PER": 15},
    ),
}  # fmt: skip

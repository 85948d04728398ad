"""The exports of annotation tools as tables: Label Studio's JSON and JSON-MIN, and Prodigy's JSON lines."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from demos.errors import UserError
from demos.files import Json
from demos.training.data.annotated.spans import place_of, split_words, word_places, word_tags, words_in
from demos.training.data.splits import count_of

LABEL_STUDIO, MINIMAL, PRODIGY = "Label Studio’s JSON", "Label Studio’s JSON-MIN", "Prodigy’s JSON"
TOKENS, TAGS = "tokens", "tags"  # the columns that spans become
ANSWERS = {"reject": "a rejected annotation", "ignore": "an ignored annotation"}  # and why they are left out
# Fields that say how a text was annotated.
ABOUT = {
    "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "answer", "score", "priority",
    "html", "accept",
}  # fmt: skip


@dataclass(frozen=True)
class Annotations:
    """The facts about an export that a program needs to read it."""

    tool: str
    choices: tuple[str, ...]  # the columns of labels that were chosen
    spans: tuple[str, ...] = ()  # of JSON-MIN, the fields that hold spans; of others only whether there are any
    text: str = ""  # the field whose characters the spans count
    tokens: bool = False  # whether the words are the file's own
    moved: bool = False  # whether spans are at another place than the file says
    negated: str = ""  # the only label of a file whose rejected rows are the class “not …”
    form: str = ""  # of JSON, as `read_json` says


@dataclass(frozen=True)
class Annotated:
    """An export as a table."""

    about: Annotations
    header: tuple[str, ...]
    rows: list[tuple[int, list[Any]]]
    left_out: tuple[tuple[str, int], ...]  # reasons and rows
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Span:
    """A stretch of a text that has a type, and what the file says that it holds."""

    field: str
    start: int
    end: int
    kind: str
    quoted: str


@dataclass
class _Row:
    """One text: what is known of it, the labels chosen, its spans, its own words, and why it is left out."""

    number: int
    fields: Json
    choices: dict[str, list[Any]] = field(default_factory=dict)
    spans: list[_Span] = field(default_factory=list)
    tokens: list[Json] = field(default_factory=list)
    lacks: str = ""
    several: bool = False  # annotations

    def span(self, name: str, value: Json, kind: Any) -> None:
        """Add a span. Raises UserError for one without a place."""
        start, end = value.get("start"), value.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start <= end:
            raise UserError(
                f"Row {self.number:,} has a span without a start and an end, which are counts of characters."
            )
        self.spans.append(_Span(name, start, end, str(kind), str(value.get("text") or "")))


def annotated(records: Sequence[tuple[int, Json]]) -> Annotated | None:
    """The table that an export's records make; None for other JSON.

    Raises UserError where no record has an annotation that counts, and for a span without a place.
    """
    tool = next((tool for tool, (is_one, _) in TOOLS.items() if any(is_one(record) for _, record in records)), "")
    if not tool:
        return None
    rows = [TOOLS[tool][1](number, record) for number, record in records]
    notes: list[str] = []
    negated = _negated(rows) if tool == PRODIGY else ""
    if negated:
        notes.append(f"Rejected rows are the class “not {negated}”, since “{negated}” is the only label of the file.")
    if several := sum(row.several for row in rows):
        notes.append(f"{count_of(several, 'row')} with several annotations; the first counts, or the ground truth.")
    about = Annotations(tool, _names(name for row in rows for name in row.choices), negated=negated)
    if any(row.spans for row in rows if not row.lacks):
        about = _with_tags(rows, about, notes)
    used = [row for row in rows if not row.lacks]
    left_out = Counter(row.lacks for row in rows if row.lacks)
    if not used:
        reasons = " and ".join(f"{count:,} {'has' if count == 1 else 'have'} {why}" for why, count in left_out.items())
        raise UserError(f"No row has an annotation that can be used; {reasons}.")
    header = _names(name for row in used for name in (*row.fields, *row.choices))
    cells = [(row.number, [(row.fields | row.choices).get(name) for name in header]) for row in used]
    return Annotated(about, header, cells, tuple(left_out.items()), tuple(notes))


def _names(names: Any) -> tuple[str, ...]:
    """Each name once."""
    return tuple(dict.fromkeys(names))


def _with_tags(rows: Sequence[_Row], about: Annotations, notes: list[str]) -> Annotations:
    """Give each row its words and their tags. `notes` grows by what is said of spans that do not fit the words."""
    used = [row for row in rows if not row.lacks]
    text = _text_field(used)
    own = all(row.tokens for row in used)
    moved = widened = lost = 0
    for row in used:
        written = str(row.fields.get(text) or "")
        if own:
            places = [(token["start"], token["end"]) for token in row.tokens]
            words = [token["text"] for token in row.tokens]
        else:
            words = split_words(written)
            places = word_places(written, words)
        spans = []
        for span in row.spans:
            start, end = place_of(written, span.start, span.end, span.quoted)
            touched = words_in(places, start, end)
            moved += start != span.start
            if touched:
                widened += places[touched[0]][0] < start or places[touched[-1]][1] > end
                spans.append((start, end, span.kind))
        tags = word_tags(places, spans)
        lost += len(spans) - sum(tag.startswith("B") for tag in tags)
        row.fields |= {TOKENS: words, TAGS: tags}
        row.lacks = "" if words else "no text"
    if moved:
        notes.append(f"{count_of(moved, 'span')} moved to the nearest place that has the text which the file quotes.")
    if widened:
        notes.append(f"{count_of(widened, 'span')} widened to the whole words that they touch.")
    if lost:
        notes.append(f"{count_of(lost, 'span')} left out: a word has one tag, and these share words with longer ones.")
    spanned = _names(span.field for row in used for span in row.spans)
    return replace(about, spans=spanned, text=text, tokens=own, moved=moved > 0)


def _text_field(rows: Sequence[_Row]) -> str:
    """The field whose characters the spans count: the one with what they quote, or “text”, or the longest."""
    names = _names(name for row in rows for name, value in row.fields.items() if isinstance(value, str))

    def worth(name: str) -> tuple[int, bool, int]:
        texts = [str(row.fields.get(name, "")) for row in rows]
        quotes = sum(span.quoted in text for row, text in zip(rows, texts, strict=True) for span in row.spans)
        return quotes, name == "text", sum(map(len, texts))

    if not names:
        raise UserError(f"Row {rows[0].number:,} has spans and no text.")
    return max(names, key=worth)


def _negated(rows: Sequence[_Row]) -> str:
    """The only label of a file in which rows of it are rejected, which are then its second class; else ""."""
    labels = {row.fields["label"] for row in rows if row.fields.get("label")}
    rejected = [row for row in rows if row.lacks == ANSWERS["reject"] and row.fields.get("label") and not row.choices]
    if len(labels) != 1 or not rejected:
        return ""
    (label,) = labels
    for row in rejected:
        row.lacks, row.fields = "", row.fields | {"label": f"not {label}"}
    return str(label)


def _objects(value: Any) -> list[Json]:
    """The objects of a list; none of anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _chosen(value: Any) -> list[str | int] | None:
    """The choices of an object that lists them; None of anything else."""
    choices = value.get("choices") if isinstance(value, dict) else None
    return choices if isinstance(choices, list) and all(isinstance(each, str | int) for each in choices) else None


def _plain(record: Mapping[str, Any]) -> Json:
    """The fields that hold one value and say something of the text."""
    return {
        name: value
        for name, value in record.items()
        if name not in ABOUT and not name.startswith("_") and not isinstance(value, dict | list)
    }


def _is_label_studio(record: Json) -> bool:
    return isinstance(record.get("data"), dict) and isinstance(record.get("annotations"), list)


def _label_studio(number: int, record: Json) -> _Row:
    """A task: the first annotation that was not cancelled, or the one that is the ground truth."""
    data = record.get("data")
    row = _Row(number, _plain(data) if isinstance(data, dict) else {})
    every = _objects(record.get("annotations"))
    done = [entry for entry in every if not entry.get("was_cancelled")]
    if not done:
        row.lacks = "a canceled annotation" if every else "no annotation"
        return row
    row.several = len(done) > 1
    for result in _objects(max(done, key=lambda entry: entry.get("ground_truth") is True).get("result")):
        value, name = result.get("value"), str(result.get("from_name"))
        if isinstance(value, dict) and result.get("type") == "choices":
            row.choices[name] = row.choices.get(name, []) + (_chosen(value) or [])
        elif isinstance(value, dict) and result.get("type") == "labels" and _is_span(value):
            row.span(name, value, value["labels"][0])
    return row


def _is_span(value: Json) -> bool:
    return isinstance(value.get("labels"), list) and bool(value["labels"]) and "start" in value and "end" in value


def _is_minimal(record: Json) -> bool:
    if {"annotator", "annotation_id", "lead_time"} <= record.keys():
        return True
    return any(any(map(_is_span, _objects(value))) or _chosen(value) is not None for value in record.values())


def _minimal(number: int, record: Json) -> _Row:
    """One annotation of a task: the text's fields and what was chosen, side by side."""
    row = _Row(number, _plain(record))
    for name, value in record.items():
        for each in filter(_is_span, _objects(value)):
            row.span(name, each, each["labels"][0])
        if (chosen := _chosen(value)) is not None:
            row.choices[name] = chosen
    return row


def _is_prodigy(record: Json) -> bool:
    return "text" in record and (record.get("answer") in ("accept", *ANSWERS) or "_task_hash" in record)


def _prodigy(number: int, record: Json) -> _Row:
    """An example with its answer: a label that was accepted, options that were chosen, spans."""
    row = _Row(number, _plain(record), lacks=ANSWERS.get(str(record.get("answer")), ""))
    if "options" in record:
        row.choices["label"] = _chosen({"choices": record.get("accept")}) or []
    for each in _objects(record.get("spans")):
        if each.get("label") and ("options" in record or not record.get("label")):  # else what a pattern has matched
            row.span("spans", each, each["label"])
    tokens = _objects(record.get("tokens"))
    if all(
        isinstance(entry.get("text"), str) and type(entry.get("start")) is type(entry.get("end")) is int
        for entry in tokens
    ):
        row.tokens = [entry for entry in tokens if entry["text"].strip()]
    return row


TOOLS: Mapping[str, tuple[Callable[[Json], bool], Callable[[int, Json], _Row]]] = {
    LABEL_STUDIO: (_is_label_studio, _label_studio),
    MINIMAL: (_is_minimal, _minimal),
    PRODIGY: (_is_prodigy, _prodigy),
}

"""Questions: a paragraph with its answer, scores, mistakes, the best spans and those that can be no answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from demos.bert.model.encoding import MAX_TOKENS, encode
from demos.figures.palette import CLASSES
from demos.figures.short_text import short
from demos.templates import templates
from demos.training.tasks.question_answering.data import QuestionDataset, example_of
from demos.training.tasks.question_answering.events import Span, SpanAnswer, SpanMistake, SpanResult
from demos.training.tasks.question_answering.files import QuestionExample
from demos.training.tasks.question_answering.scores import token_f1
from demos.training.tasks.question_answering.task import QuestionAnswering
from demos.widgets.live_curve.live_curve import Watcher
from demos.widgets.tasks.examples import chips
from demos.widgets.tasks.question_answering.figure import spans_figure
from demos.widgets.tasks.question_answering.figure_threshold import threshold_figure
from demos.widgets.tasks.task_view import WATCHED_LENGTH, Looks, TaskView

TEXT = templates(__file__)
SHOWN_MISTAKES = 40
PARAGRAPH_LENGTH = 420  # characters: an example is shown whose paragraph is about so long
AROUND = 90  # characters on each side, where only a part of the paragraph is shown
CHIPS = 14  # tokens of the paragraph on each side of the answer


class QuestionView(TaskView):
    """An answer in a text."""

    kind, order, word, scheme = "question", 5, "Question", "answer in a text"
    boxes = (
        ("Question", "When did Edith Marlowe open her bakery?"),
        (
            "Paragraph",
            "For eighty years the village of Hollin had no baker of its own, and carts brought the bread from Ashby. "
            "In 1931 Edith Marlowe, a miller's daughter, opened a bakery in the old post office. It sold brown bread "
            "on weekdays and buns on Saturdays, until her nephew Tom moved the ovens to the station in 1958.",
        ),
    )
    example_of = staticmethod(example_of)

    def data(self, dataset: QuestionDataset, tokenizer: Any) -> str:
        """One training question as BERT reads it, a start and an end in the second segment; and one without an answer.

        The second is about the same paragraph, where there is one.
        """

        def shown(examples: Iterable[QuestionExample], context: str = "") -> QuestionExample | None:
            def order(example: QuestionExample) -> tuple[bool, int, int]:
                far = abs(len(example.context) - PARAGRAPH_LENGTH)
                return example.context != context, far, len(example.question)

            return min(examples, key=order, default=None)

        answerable = shown(example for example in dataset.train if example.answers)
        context = answerable.context if answerable else ""
        unanswerable = shown((example for example in dataset.train if not example.answers), context)
        paragraphs = [dataset.paragraphs(split) for split in ("train", "validation", "test")]
        rows = [_segments(example, tokenizer) if example else [] for example in (answerable, unanswerable)]
        return TEXT.data(dataset, paragraphs, *rows)

    def scores(self, outcome: SpanResult, stopped: bool) -> str:
        """Exact match and token F1."""
        return TEXT.scores(outcome, stopped)

    def figure(self, outcome: SpanResult) -> Any:
        """One test question's spans as a table; if "no answer" may be one, the threshold that decides."""
        return threshold_figure(outcome.null) if outcome.null else spans_figure(outcome.picture)

    def mistakes(self, outcome: SpanResult) -> str:
        """The questions not answered exactly: the right answer underlined, the found one marked."""
        rows = [_mistake(mistake) for mistake in outcome.mistakes[:SHOWN_MISTAKES]]
        return TEXT.mistakes(rows=rows, count=outcome.wrong, most=SHOWN_MISTAKES)

    def numbers(self, outcome: SpanResult, looks: Looks, per_epoch: int) -> str:
        """Every look, the scores by question word, and the drawn question's best spans."""
        picture = outcome.picture
        spans = _spans(picture.context, picture.answer.best) if picture else []
        null = _null(picture.answer) if picture and outcome.null else None
        return TEXT.numbers(outcome, looks, per_epoch, spans, null, CLASSES[0])

    def answer(self, task: Any, answer: SpanAnswer, boxes: Sequence[str]) -> str:
        """The paragraph with the answer marked, the next best spans, and the best that can be none."""
        example = example_of(boxes)
        if not answer.best:
            return TEXT.no_token()
        best = answer.best[0]
        return TEXT.answer(
            question=example.question,
            paragraph=marked_html(
                example.context, {"found": (best.start, best.end)} if task.predicted_text(answer, example) else {}
            ),
            answer=answer,
            unanswerable=task.unanswerable,
            tau=task.tau,
            nowhere=answer.cutout.nowhere[0] * answer.cutout.nowhere[1] if answer.cutout else 0.0,
            spans=_spans(example.context, answer.best),
            null=_null(answer) if task.unanswerable else None,
            impossible=[
                (short(span.first, 30), short(span.last, 30), span.reason, span.score) for span in answer.impossible
            ],
            hue=CLASSES[0],
        )

    def in_words(self, task: Any, answer: SpanAnswer, boxes: Sequence[str]) -> str:
        return str(task.predicted_text(answer, example_of(boxes))) or "no answer"

    def watcher(self, dataset: QuestionDataset) -> Watcher:
        """The overlap of the best span's words with the correct answer's."""

        def label_of(place: int) -> tuple[str, int]:
            example = dataset.validation[place]
            return short(f"{example.question} {next(iter(example.answers), 'no answer')}", WATCHED_LENGTH), 0

        def values(place: int, answer: SpanAnswer) -> tuple[float]:
            example = dataset.validation[place]
            task = QuestionAnswering(unanswerable=dataset.has_unanswerable)
            return (token_f1(task.predicted_text(answer, example), example.answers or ("",)),)

        return Watcher(("of the words belong to the correct answer (token F1)",), label_of, values)


VIEWS = (QuestionView(),)


def _segments(example: QuestionExample, tokenizer: Any) -> list[dict[str, object]]:
    """The example as BERT reads it: the question's tokens, then the paragraph's around its answer, both ends named.

    Without an answer both ends are [CLS], and the paragraph is shown from its beginning.
    """
    encoding = encode(tokenizer, example.question, example.context, MAX_TOKENS)
    begun = encoding.token_type_ids.index(1) if 1 in encoding.token_type_ids else len(encoding)
    answer = [
        at
        for at, (start, end) in enumerate(encoding.offsets)
        if encoding.sequence_ids[at] == 1 and start < example.end and end > example.start
    ]
    low, high, below, marked = begun, begun + 2 * CHIPS, {}, range(0)
    if not example.answers:
        below, marked = {0: "start end"}, range(1)
    if answer:
        low, high, marked = max(begun, answer[0] - CHIPS), answer[-1] + CHIPS + 1, range(answer[0], answer[-1] + 1)
        below = {answer[0]: "start", answer[-1]: "end"} if len(answer) > 1 else {answer[0]: "start end"}
    rows = []
    for label, places, before, after in (
        ("The question", range(begun), 0, 0),
        ("The paragraph", range(low, min(high, len(encoding))), low - begun, max(0, len(encoding) - high)),
    ):
        shown = chips(encoding.tokens, encoding.word_index, places, below, marked=marked)
        rows.append({"label": label, "chips": shown, "before": before, "after": after})
    return rows


def _mistake(mistake: SpanMistake) -> dict[str, object]:
    marks = {"true": (mistake.start, mistake.end)}
    if mistake.found:
        marks["found"] = (mistake.found.start, mistake.found.end)
    return {
        "question": short(mistake.question, 200),
        "found": mistake.found,
        "unanswerable": not mistake.answers,
        "f1": mistake.f1,
        "others": [short(text, 60) for text in mistake.answers[1:4]],
        "paragraph": marked_html(mistake.context, marks, part=True),
    }


def _spans(context: str, spans: Sequence[Span]) -> list[tuple[str, float, float]]:
    """(text, probability, score) of each."""
    return [(short(context[span.start : span.end], 120), span.probability, span.score) for span in spans]


def _null(answer: SpanAnswer) -> tuple[float | None, float]:
    """([CLS]'s probability as start and end, its score).

    The probability is known of the best span's window alone, so there is none where the null score may be another's.
    """
    cutout = answer.cutout
    probability = cutout.nowhere[0] * cutout.nowhere[1] if cutout and answer.windows == 1 else None
    return probability, answer.null


def marked_html(text: str, marks: Mapping[str, tuple[int, int]], part: bool = False) -> str:
    """The text with what is "true" underlined and what is "found" marked; the two may overlap.

    A mark is its first character and one past its last. `part` leaves out what is more than AROUND characters away
    from both.
    """
    known = {name: (start, end) for name, (start, end) in marks.items() if start < end}
    low, high = 0, len(text)
    if part and known:
        low = _edge(text, min(start for start, _ in known.values()) - AROUND, True)
        high = _edge(text, max(end for _, end in known.values()) + AROUND, False)
    first, past = known.get("found", (low, low))

    def pieces(low: int, high: int) -> list[str]:
        """The parts of the characters from `low` to `high` before, inside and behind the correct answer."""
        start, end = (min(max(edge, low), high) for edge in known.get("true", (high, high)))
        return [text[low:start], text[start:end], text[end:high]]

    zones = [pieces(low, first), pieces(first, past), pieces(past, high)]
    return TEXT.marked(zones, begun=low > 0, more=high < len(text))


def _edge(text: str, place: int, left: bool) -> int:
    """The nearest blank inwards, so that no word is cut; the text's end where it is near."""
    if place <= 0 or place >= len(text):
        return 0 if left else len(text)
    blank = text.find(" ", place) + 1 if left else text.rfind(" ", 0, place)
    return blank if blank > 0 else place

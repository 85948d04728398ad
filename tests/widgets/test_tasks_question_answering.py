"""Questions on the page: the marks stand where the spans are, the figure's cells are the products, text is escaped."""

import dataclasses
import html
import re
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.tasks.question_answering.data import QuestionDataset
from demos.training.tasks.question_answering.events import Picture, SpanAnswer, SpanResult
from demos.training.tasks.question_answering.files import QuestionExample
from demos.training.tasks.question_answering.span_search import ASKED, BACKWARDS, SHOWN
from demos.training.tasks.question_answering.task import QuestionAnswering
from demos.training.tasks.task import Ended
from demos.widgets.tasks.question_answering.view import CHIPS, QuestionView, marked_html
from tests.one_line import flat
from tests.plotly_figure import plotly

VIEW = QuestionView()
NASTY = "<img src=x onerror=alert(1)>${alert(1)}"
LONG = f"Nobody came. {NASTY} The unfathomable library of Ghent lent 400 books to Ada Lovelace, who lost them all. " * 2
BO = f"Bo sold {NASTY} and tea."
EXAMPLES = (
    QuestionExample("Who lost the books?", LONG, ("Ada Lovelace", "Ada"), LONG.index("Ada")),
    QuestionExample(f"Which {NASTY}?", BO, ("tea",), BO.index("tea")),
    QuestionExample("What was sold?", "Bo sold bread and tea.", ("bread",), 8),
)


def text(shown: str) -> str:
    """What a reader sees."""
    return html.unescape(re.sub(r"<[^>]*>", "", shown))


def answered(tiny: LoadedModel, wishes: list[tuple[str, str]]) -> list[SpanAnswer]:
    """Answers of a model that wants each example's span to begin and to end with these tokens."""
    task = QuestionAnswering()
    found = []
    for example, wish in zip(EXAMPLES, wishes, strict=True):
        (feature,) = task.features(tiny.tokenizer, [example], 128)
        tokens = tiny.tokenizer.convert_ids_to_tokens(list(feature.sequences[0]))
        logits = torch.randn(1, len(tokens), 2, generator=torch.Generator().manual_seed(2)) * 0.1
        offset = feature.extra.offset
        for k, token in enumerate(wish):
            logits[0, offset + tokens[offset:].index(token), k] += 6
        batch: Any = type("B", (), {"features": [feature]})
        found += task.answers(logits, batch)
    return found


@pytest.fixture(scope="module")
def answers(tiny: LoadedModel) -> list[SpanAnswer]:
    return answered(tiny, [("ada", "love"), ("bo", "sold"), ("bread", "bread")])


@pytest.fixture(scope="module")
def dataset() -> QuestionDataset:
    return QuestionDataset("Questions", EXAMPLES[::-1] * 3, EXAMPLES[1:2], EXAMPLES, notes=(NASTY,))


@pytest.fixture(scope="module")
def result(dataset: QuestionDataset, answers: list[SpanAnswer]) -> SpanResult:
    ended = Ended(1.2, 4.0, 9, 3.0, 5.0, "", ())
    return QuestionAnswering().outcome(dataset, answers, ended)


def test_an_example_is_told_with_its_start_and_end_under_its_tokens(
    dataset: QuestionDataset, tiny: LoadedModel
) -> None:
    shown = flat(VIEW.data(dataset, tiny.tokenizer))
    assert "9 questions for training, 1 for validation, 3 for the final test" in text(shown)
    assert "They are about 3, 1 and 3 paragraphs" in text(shown)
    chips = re.findall(
        r'<li class="(chip [^"]*)"><span class="piece">(.*?)</span>(?:<span class="below">(.*?)</span>)?</li>', shown
    )
    pieces = [text(piece) for _, piece, _ in chips]
    assert pieces[:7] == ["[CLS]", "who", "lost", "the", "books", "?", "[SEP]"]
    marked = [(text(piece), below) for classes, piece, below in chips if "marked" in classes]
    assert marked == [("ada", "start"), ("love", ""), ("##lace", "end")]
    gaps = [int(count) for count in re.findall(r"… (\d+) more tokens …", shown)]
    assert len(chips) + sum(gaps) == len(tiny.tokenizer(EXAMPLES[0].question, LONG)["input_ids"])
    assert pieces.index("ada") - 7 == CHIPS
    assert "<img" not in shown


def test_marks_stand_where_the_spans_are_and_nothing_is_lost() -> None:
    shown = marked_html("a <b> c d", {"true": (2, 7), "found": (6, 9)})
    assert text(shown) == "a <b> c d"
    assert shown == 'a <u class="true">&lt;b&gt; </u><mark class="found"><u class="true">c</u> d</mark>'
    assert marked_html("abcdef", {"true": (1, 5), "found": (2, 3)}).count("<mark") == 1
    part = marked_html(LONG, {"true": (100, 112)}, part=True)
    assert text(part).startswith("… ")
    assert text(part).endswith(" …")
    assert text(part)[2:-2].strip() in LONG
    assert len(text(part)) < 220
    assert marked_html("", {"found": (0, 0)}) == ""


def test_the_figure_s_cells_are_start_times_end_and_its_frame_is_the_found_span(result: SpanResult) -> None:
    drawn = plotly(VIEW.figure(result))
    picture = result.picture
    assert picture is not None
    cutout = picture.answer.cutout
    assert cutout is not None
    heat, ends, starts = drawn.data
    z = np.array(heat.z, dtype=float)
    m = len(cutout.places)
    assert z.shape == (m, m)
    assert np.isnan(z[np.tril_indices(m, -1)]).all()
    upper = np.triu_indices(m)
    np.testing.assert_allclose(z[upper], np.outer(starts.x, ends.y)[upper], atol=1e-5)
    best = picture.answer.best[0]
    frame = next(shape for shape in drawn.layout.shapes if shape.type == "rect" and shape.line.dash == "solid")
    row, column = int(frame.y0 + 0.5), int(frame.x0 + 0.5)
    assert (cutout.places[row][0], cutout.places[column][1]) == (best.start, best.end)
    assert np.nanmax(z) == pytest.approx(z[row, column]) == pytest.approx(best.probability, abs=1e-4)
    grey = next(shape for shape in drawn.layout.shapes if shape.type == "path")
    corners = [tuple(map(float, one.split(","))) for one in grey.path[2:-2].split(" L ")]
    area = abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, [*corners[1:], corners[0]], strict=True))) / 2
    assert area == m * (m - 1) / 2  # the cells below the diagonal, and no other
    assert m <= max(SHOWN, 30)


def test_the_right_answer_is_framed_too_where_another_is_found_and_no_answer_is_no_crash(
    result: SpanResult, answers: list[SpanAnswer]
) -> None:
    wrong = EXAMPLES[0]
    picture = Picture(**vars(wrong), answer=answers[0])
    drawn = plotly(VIEW.figure(type("R", (), {"picture": picture, "null": None})))
    assert {shape.line.dash for shape in drawn.layout.shapes if shape.type == "rect"} == {"solid", "dot"}
    assert "Who lost the books?" in drawn.layout.annotations[-1].text
    nothing = plotly(VIEW.figure(type("R", (), {"picture": None, "null": None})))
    assert "No test paragraph" in nothing.layout.annotations[0].text
    hostile = Picture(**vars(EXAMPLES[1]) | {"question": NASTY * 3}, answer=answers[1])
    assert "<img" not in plotly(VIEW.figure(type("R", (), {"picture": hostile, "null": None}))).to_json()


def test_scores_mistakes_and_numbers_are_the_result_s(result: SpanResult) -> None:
    assert result.scores.exact == pytest.approx(1 / 3)
    shown = flat(VIEW.scores(result, True))
    assert "<b>33.3%</b>exact match<" in shown
    assert f"<b>{result.scores.f1:.3f}</b>token F1<" in shown
    assert "on 3 test questions" in shown
    assert "stopped early" in shown
    wrong = flat(VIEW.mistakes(result))
    assert "2 errors, most confident first" in text(wrong)
    assert re.findall(r'<u class="true">(.*?)</u>', wrong)[1:] in (
        ["tea", "Ada Love", "lace"],
        ["Ada Love", "lace", "tea"],
    )
    assert '<mark class="found"><u class="true">Ada Love</u></mark><u class="true">lace</u>' in wrong
    assert "Also correct: “Ada”" in text(wrong)
    assert "<img" not in wrong
    numbers = flat(VIEW.numbers(result, [[0, None, 4.4, 0.0], [9, 3.2, 2.1, 0.5]], 9))
    assert "validation exact match" in numbers
    assert re.findall(r'<th scope="row">(who|which|what)</th><td>1</td>', numbers) == ["who", "which", "what"]
    assert "<img" not in numbers


def test_an_answer_shows_what_it_found_and_what_can_be_none(answers: list[SpanAnswer]) -> None:
    boxes = [EXAMPLES[2].question, EXAMPLES[2].context]
    shown = flat(VIEW.answer(QuestionAnswering(), answers[2], boxes))
    assert '<mark class="found">bread</mark>' in shown
    rows = re.findall(r'<th scope="row" class="sentence">([^<]*)</th>.*?<td>([\d.]+)</td><td>([+-][\d.]+)</td>', shown)
    assert [float(score) for *_, score in rows] == sorted((float(score) for *_, score in rows), reverse=True)
    assert len(rows) == 5
    assert rows[0][0] == "bread"
    assert shown.count("<s>") == 2  # too short for a span that is too long
    assert all(html.escape(reason) in shown for reason in (BACKWARDS, ASKED))
    assert "it would have the highest score" not in shown
    first = dataclasses.replace(answers[2].impossible[0], score=99.0)
    assert shown.count("</tr>") == 9  # two heads
    impossible = VIEW.answer(QuestionAnswering(), dataclasses.replace(answers[2], impossible=(first,)), boxes)
    assert impossible.count("it would have the highest score") == 1
    hostile = VIEW.answer(QuestionAnswering(), answers[1], [NASTY, EXAMPLES[1].context])
    assert "<img" not in hostile
    unread = dataclasses.replace(answers[2], unread=1_234, windows=6)
    assert "6 windows. Its last 1,234 tokens exceed" in flat(VIEW.answer(QuestionAnswering(), unread, boxes))
    assert "no token" in VIEW.answer(QuestionAnswering(), SpanAnswer((), (), None, 1), ["why?", "\x01"])
    with pytest.raises(UserError):
        VIEW.answer(QuestionAnswering(), answers[1], ["", "x"])
    assert all(len(sample) > 20 for _, sample in VIEW.boxes)


def test_the_threshold_s_slider_moves_the_line_and_its_scores(tiny: LoadedModel, answers: list[SpanAnswer]) -> None:
    """The middle example has no answer: the line stands at the chosen tau, each step names its own scores."""
    examples = (EXAMPLES[0], dataclasses.replace(EXAMPLES[1], answers=(), start=0), EXAMPLES[2])
    data = QuestionDataset("Q", examples, examples, examples)
    told = [dataclasses.replace(answer, null=one.score + gap) for answer, one, gap in
            ((answers[0], answers[0].best[0], -2.0), (answers[1], answers[1].best[0], 3.0),
             (answers[2], answers[2].best[0], 1.0))]  # fmt: skip
    task = QuestionAnswering(unanswerable=True).settled(examples, told)
    result = task.outcome(data, told, Ended(1.2, 4.0, 9, 3.0, 5.0, "", ()))
    assert result.null is not None
    assert 1.0 < task.tau < 3.0
    assert result.null.chosen.unanswerable.f1 == 1
    assert result.metrics["NoAns F1"] == 1
    drawn = plotly(VIEW.figure(result))
    assert drawn.layout.shapes[0].x0 == task.tau
    (slider,) = drawn.layout.sliders
    texts = [step.args[0]["annotations"][0]["text"] for step in slider.steps]
    assert texts[slider.active] == drawn.layout.annotations[0].text
    assert any("NoAns F1 0.000" in one for one in texts)
    assert [sorted(trace.x) for trace in drawn.data[3:]] == [[pytest.approx(3.0)], pytest.approx([-2.0, 1.0])]
    assert "2 with an answer (HasAns)" in text(flat(VIEW.scores(result, False)))
    own = text(flat(VIEW.answer(task, told[1], ["Which?", BO])))
    assert "No answer in this paragraph." in own
    assert "more than τ" in own
    assert result.picture is not None
    asked = VIEW.answer(task, told[1], ["Which?", BO])
    for shown, score in ((asked, told[1].null), (VIEW.numbers(result, [], 9), result.picture.answer.null)):
        row = r'<tr class="null"><th [^>]*>([^<]*)</th>.*?<td>([01]\.\d+)</td><td>([+-][\d.]+)</td></tr>'
        null = re.search(row, flat(shown))
        assert null
        assert null[1] == "[CLS] (no answer)"
        assert null[3] == f"{score:+.2f}"
    windows = flat(VIEW.answer(task, dataclasses.replace(told[1], windows=2), ["Which?", BO]))
    assert f"<td>–</td><td>{told[1].null:+.2f}</td>" in windows  # the score may be the other window's
    sure = flat(VIEW.answer(QuestionAnswering(), told[1], ["Which?", BO]))
    assert "[CLS] (no answer)" not in sure
    assert "Every training question had an answer, so the model always gives a span." in text(sure)
    assert "always gives a span" not in own


def test_a_question_without_an_answer_is_drawn_too_with_both_ends_on_cls(tiny: LoadedModel) -> None:
    """The one about the same paragraph, though another is nearer to the length that is looked for."""
    near = "Ann sold tea in the shop at the corner of the long street. " * 7
    without = (QuestionExample("Who wept?", near), QuestionExample("Why did nobody come?", LONG))
    data = QuestionDataset("Q", (EXAMPLES[0], *without), EXAMPLES, EXAMPLES)
    shown = flat(VIEW.data(data, tiny.tokenizer))
    first, case, second = shown.partition("A question without an answer in its paragraph: [CLS] is both start and end.")
    assert case
    assert "A question with an answer in its paragraph:" in first
    chips = re.findall(
        r'<li class="(chip [^"]*)"><span class="piece">(.*?)</span>(?:<span class="below">(.*?)</span>)?</li>', second
    )
    assert [text(piece) for _, piece, _ in chips][:7] == ["[CLS]", "why", "did", "nobody", "come", "?", "[SEP]"]
    marked = [(text(piece), below) for classes, piece, below in chips if "marked" in classes or below]
    assert marked == [("[CLS]", "start end")]
    assert "without an answer in its paragraph" not in flat(
        VIEW.data(dataclasses.replace(data, train=EXAMPLES), tiny.tokenizer)
    )

"""Part "Prompts": what it shows on the bundled model against transformers, its program, its measured sample."""

import re
from pathlib import Path
from typing import Any

import pytest

from demos.bert.model.catalogue import BUNDLED
from demos.bert.pretraining.cloze import LABEL_WORDS, PATTERNS, drawn, read_prompts
from demos.errors import UserError
from demos.lessons.pretraining.cloze import figure
from demos.lessons.pretraining.cloze.figure import LINES, accuracy_figure, accuracy_html
from demos.lessons.pretraining.cloze.part import NUMBERS, Cloze, answer, remarks
from demos.lessons.pretraining.cloze.samples import sample
from demos.page.services import Sentence, Services
from demos.training.data.splits import MAX_TRAIN
from demos.training.sources import SOURCES
from tests.plotly_figure import plotly
from tests.programs import printed
from tests.shown_values import with_values

NAMES = ("examples", "draw", "pattern", "label_words")


def shown(services: Services, sentence: Sentence, *chosen: Any) -> dict[str, Any]:
    values: dict[str, Any] = with_values(Cloze().shown)(services, sentence, **dict(zip(NAMES, chosen, strict=True)))
    return values


ROOT = Path(__file__).resolve().parents[3]
TEXT = "The plot is thin, and I looked at my watch every five minutes."
GREAT = " / ".join(LABEL_WORDS[0])


@pytest.mark.parametrize("number", [0, 4])
def test_the_program_prints_what_the_page_shows(
    services: Services, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    page = shown(services, Sentence(TEXT, "", BUNDLED), number, 2, PATTERNS[0], GREAT)
    lines = printed(page["program"])
    solved = drawn(remarks(), number, 1)
    with_text, without = read_prompts(services.pretrained(BUNDLED), [TEXT, ""], solved, PATTERNS[0], LABEL_WORDS[0])
    for line, reading in zip(lines, (with_text, without), strict=False):
        numbers = [float(value) for value in re.findall(r"\d\.\d+", line)]
        assert numbers == pytest.approx([guess.probability for guess in reading.words], abs=2e-6)
    says = ["great" if with_text.log_odds > bound else "terrible" for bound in (0, without.log_odds)]
    assert [line.rpartition(" ")[2] for line in lines[2:]] == says
    verdicts = re.findall(r"Predicted class: <b>(\w+)</b>", page["reading"])
    assert verdicts == [{"great": "positive", "terrible": "negative"}[word] for word in says]


def test_solved_examples_stand_in_the_input_with_their_words(services: Services) -> None:
    page = shown(services, Sentence("<b>Fine</b>", "", BUNDLED), 1, 1, PATTERNS[0], GREAT)
    assert page["prompt"].count("<p") == 3
    assert "&lt;b&gt;Fine" in page["prompt"]
    for example in drawn(remarks(), 1, 0):
        assert ("positive" if example.positive else "negative") in page["prompt"]
    with pytest.raises(UserError, match="type one"):
        shown(services, Sentence("  ", "", BUNDLED), 0, 1, PATTERNS[0], GREAT)
    with pytest.raises(UserError, match="the limit is 512"):
        shown(services, Sentence("word " * 500, "", BUNDLED), 8, 1, PATTERNS[0], GREAT)


def test_a_mask_in_small_letters_is_shown_as_it_is_read(services: Services) -> None:
    small, large = (
        shown(services, Sentence(f"A {mask} film", "", BUNDLED), 0, 1, PATTERNS[0], GREAT)
        for mask in ("[mask]", "[MASK]")
    )
    assert small == large
    assert "A [MASK] film." in small["prompt"]


def test_odd_choices_are_the_first_ones(services: Services) -> None:
    sentence = Sentence(TEXT, "", BUNDLED)
    odd = shown(services, sentence, "all", -3, "<script>", "x")
    assert odd == shown(services, sentence, 0, 1, PATTERNS[0], GREAT)


def test_the_question_s_answer(services: Services) -> None:
    facts = answer(services, Sentence(TEXT, "", BUNDLED)).facts
    great, terrible = facts["great_alone"], facts["terrible_alone"]
    assert 0 < min(great, terrible) < max(great, terrible) / 1.1  # one of them is preferred: neither is 0, nor one half
    assert max(great, terrible) < 0.4


def test_the_sample_s_prompts_are_what_the_model_says_now(services: Services) -> None:
    """Zero examples, and the first draw of one: the accuracies in the file, computed again."""
    data: Any = SOURCES["sentiment"].load(0, MAX_TRAIN)
    texts = [example.text for example in data.test]
    assert sample().test == len(texts)
    for number in (0, 1):
        solved = drawn(remarks(), number, 0)
        *readings, without = read_prompts(
            services.pretrained(BUNDLED), [*texts, ""], solved, sample().pattern, sample().label_words
        )
        for method, bound in (("probability", 0.0), ("gain", without.log_odds)):
            right = [
                (reading.log_odds > bound) == (data.labels[example.label] == "positive")
                for reading, example in zip(readings, data.test, strict=True)
            ]
            assert sample().accuracy[method][number][0] == pytest.approx(sum(right) / len(right), abs=0.012)


def test_the_sample_is_drawn_and_tabled() -> None:
    known = sample()
    assert set(known.accuracy) == set(LINES)
    assert known.numbers == NUMBERS
    assert known.draws == 10
    figure: Any = plotly(accuracy_figure(known))
    lines = {trace.name: trace for trace in figure.data}
    table = accuracy_html(known)
    for method, (name, *_) in LINES.items():
        numbers = sorted(known.accuracy[method])
        assert list(lines[name].y) == pytest.approx([known.mean(method, number) for number in numbers])
        assert f"{known.mean(method, numbers[-1]):.1%}" in table
    assert known.command in table


def test_what_the_page_says_of_the_sample() -> None:
    known = sample()
    for method in ("tuned_with_prompt", "fine_tuned", "few"):
        assert known.mean(method, 1) < known.mean(method, 8)
    said = " ".join(str(figure.TEXT.measured(known, known.standard_error)).split())
    for rule, name in (("probability", "more probable word"), ("gain", "larger ratio")):
        without = known.mean(rule, 0)
        average = sum(known.mean(rule, number) for number in (1, 4, 8)) / 3
        way = "raise" if average > without else "lower"
        assert (
            f"With the rule “{name}”, examples in the input {way} the accuracy of the prompt from {without:.0%} to "
            f"{average:.0%} on average, a difference of less than two standard errors."
        ) in said
        assert abs(average - without) < 2 * known.standard_error / 100
    assert known.standard_error == pytest.approx(5.2, abs=0.05)

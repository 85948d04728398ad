"""Ready models as the page shows them: the answers are the models' own, and the program prints the same."""

from __future__ import annotations

import ast

import pytest

from demos.bert.model.models import LoadedModel
from demos.lessons.finetune.ready.part import EXAMPLES, MOST_LINES, lines_of, show
from demos.page.services import Sentence
from demos.training.ready.models import ReadyModels
from demos.widgets.tasks.registry import view_of
from tests.one_line import one_line
from tests.programs import printed

BAR = Sentence("", "", "minilm")


@pytest.fixture(scope="module")
def models(bundled: LoadedModel) -> ReadyModels:
    return ReadyModels(lambda: bundled)


def test_the_lectures_sentences_are_answered(models: ReadyModels) -> None:
    sentiment, names, answer, _ = show(models, BAR, *EXAMPLES["Example: where do I work?"])
    assert "Sylvain" in names
    assert "Brooklyn" in names
    assert "<mark" in answer
    assert "Brooklyn" in answer
    both, *_ = show(models, BAR, *EXAMPLES["Example: two sentences"])
    assert [line for line in ("positive</b>", "negative</b>") if line in one_line(both)] == [
        "positive</b>",
        "negative</b>",
    ]
    assert "pipeline(&#34;sentiment-analysis&#34;)" in sentiment
    droplets = show(models, BAR, *EXAMPLES["Example: droplets"])[2]
    assert "cloud" in droplets


def test_the_program_prints_what_the_page_shows(models: ReadyModels, monkeypatch: pytest.MonkeyPatch) -> None:
    text, question = EXAMPLES["Example: two sentences"]
    text += "\nAnna Berg met Tom in Oslo."
    lines = lines_of(text)
    *_, program = show(models, BAR, text, question)
    *classes, names, answer = printed(program)
    for line, told, chances in zip(lines, classes, models.get("sentence").predict(lines), strict=True):
        found = ast.literal_eval(told.removeprefix(line).strip())
        assert [*found.values()] == pytest.approx(chances, abs=2e-4)
    view, tagger = view_of("entities"), models.get("entities")
    example = view.example_of([" ".join(lines)])
    entities = tagger.task.entities_of(tagger.answers([example])[0])
    said = [(" ".join(example.words[one.start : one.end]), one.kind) for one in entities]
    assert said
    assert [(name, kind) for name, kind, _ in ast.literal_eval(names)] == said
    reader = models.get("question")
    best = reader.answers([view_of("question").example_of([question, " ".join(lines)])])[0].best[0]
    assert answer == " ".join(lines)[best.start : best.end]


def test_empty_and_hostile_texts_become_one_sentence_or_text(models: ReadyModels) -> None:
    shown = show(models, BAR, "", "")
    assert all('role="alert"' in one or "notice" in one for one in shown[:3])
    script = "<script>alert(1)</script>"
    assert all(script not in str(one) for one in show(models, BAR, f"{script} Anna left.", script)[:3])
    assert len(lines_of("A.\n\n" * 9)) == MOST_LINES

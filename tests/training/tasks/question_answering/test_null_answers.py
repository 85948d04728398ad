"""Unanswerable questions: scores by SQuAD 2.0's rules written again, every threshold tried, the null score's window."""

import math
import random
import re
import string
from collections import Counter
from dataclasses import replace

import pytest
import torch

from demos.bert.model.models import LoadedModel
from demos.training.settings import Settings
from demos.training.sources import SOURCES
from demos.training.tasks.question_answering.files import QuestionExample
from demos.training.tasks.question_answering.null_answers import Graded
from demos.training.tasks.question_answering.span_search import search
from demos.training.tasks.question_answering.task import QuestionAnswering, graded, text_of
from demos.training.tasks.registry import task_of

Question = tuple[str, list[str], float]  # prediction, gold answers (none: unanswerable), null score difference


def official(questions: list[Question], threshold: float) -> dict[str, float]:
    """SQuAD 2.0's evaluation, from its description: `exact`, `f1`, `HasAns_f1`, `NoAns_f1`, ..., in percent."""

    def normal(text: str) -> list[str]:
        kept = "".join(sign for sign in text.lower() if sign not in set(string.punctuation))
        return re.sub(r"\b(a|an|the)\b", " ", kept).split()

    def f1(gold: str, found: str) -> float:
        one, two = normal(gold), normal(found)
        if not one or not two:
            return float(one == two)
        same = sum((Counter(one) & Counter(two)).values())
        if not same:
            return 0.0
        precision, recall = same / len(two), same / len(one)
        return 2 * precision * recall / (precision + recall)

    rows: list[tuple[bool, float, float]] = []
    for text, gold, difference in questions:
        wanted = [answer for answer in gold if normal(answer)] or [""]
        if difference > threshold:  # apply_no_ans_threshold: right exactly where there is no answer
            score = float(not gold)
            rows.append((bool(gold), score, score))
        else:
            exact = max(float(normal(answer) == normal(text)) for answer in wanted)
            rows.append((bool(gold), exact, max(f1(answer, text) for answer in wanted)))
    told = {}
    for name, chosen in (
        ("", rows), ("HasAns_", [row for row in rows if row[0]]), ("NoAns_", [row for row in rows if not row[0]])
    ):  # fmt: skip
        told |= {f"{name}exact": sum(row[1] for row in chosen) / len(chosen)}
        told |= {f"{name}f1": sum(row[2] for row in chosen) / len(chosen)}
    return told


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    """Random predictions of every quality on our own test questions."""
    draw = random.Random(5)
    rows = []
    for one in SOURCES["unanswerable"].load(0, 1_500).test:
        words = one.context.split()
        start = draw.randrange(len(words) - 4)
        near = draw.choice([*one.answers, *(f"the {text}," for text in one.answers), "nobody"])
        text = draw.choice([near, " ".join(words[start : start + draw.randint(1, 4)])])
        rows.append((text, list(one.answers), draw.gauss(0 if one.answers else 1.5, 2)))
    assert sum(not gold for _, gold, _ in rows) == 24
    return rows


def test_scores_at_any_threshold_are_the_official_ones(questions: list[Question]) -> None:
    texts, golds, gaps = ([row[k] for row in questions] for k in range(3))
    marks = Graded.of(gaps, texts, golds)
    for tau in (-9.0, -1.0, 0.0, 0.7, 9.0):
        found, wanted = marks.at(tau), official(questions, tau)
        for name, scores in (("", found.every), ("HasAns_", found.answerable), ("NoAns_", found.unanswerable)):
            assert scores.exact == pytest.approx(wanted[f"{name}exact"])
            assert scores.f1 == pytest.approx(wanted[f"{name}f1"])
    assert (found.every.count, found.answerable.count, found.unanswerable.count) == (96, 72, 24)


@pytest.mark.slow
def test_the_best_threshold_beats_all_others_and_the_curve_runs_from_none_to_all(questions: list[Question]) -> None:
    texts, golds, gaps = ([row[k] for row in questions] for k in range(3))
    marks = Graded.of(gaps, texts, golds)
    best = official(questions, marks.best())["f1"]
    assert best == pytest.approx(max(official(questions, at / 50)["f1"] for at in range(-600, 600)))
    told = marks.null_scores(0.5)
    assert told.chosen.every.f1 == pytest.approx(official(questions, 0.5)["f1"])
    assert (told.curve[0].unanswerable.f1, told.curve[0].answerable.f1) == (1.0, 0.0)
    assert told.curve[-1].every.f1 == pytest.approx(official(questions, math.inf)["f1"])
    assert Graded.of([math.inf], [""], [[]]).best() == 0.0


def test_the_null_score_is_the_least_of_the_windows_and_decides(tiny: LoadedModel) -> None:
    far = " ".join(f"word{k}" for k in range(80))
    examples = [QuestionExample("Which is last?", far, ("word79",), far.index("word79")), QuestionExample("Why?", far)]
    task = QuestionAnswering(unanswerable=True)
    features = task.features(tiny.tokenizer, examples, 64)
    assert task.targets(features[1:], 64).argmax(dim=1).eq(0).all()  # trained on: [CLS] is start and end
    logits = torch.randn(len(features[0].sequences), 64, 2, generator=torch.Generator().manual_seed(1))
    answer = search(features[0].extra, logits)
    assert answer.null == pytest.approx(float(logits[:, 0].sum(dim=1).min()))
    assert answer.gap == pytest.approx(answer.null - answer.best[0].score)
    above, below = replace(task, tau=answer.gap - 0.1), replace(task, tau=answer.gap + 0.1)
    assert above.predicted_text(answer, examples[0]) == ""
    assert below.predicted_text(answer, examples[0]) == text_of(answer, examples[0]) != ""
    assert replace(above, unanswerable=False).predicted_text(answer, examples[0]) != ""  # SQuAD 1.1: each has an answer
    settled = task.settled(examples, [answer, replace(answer, null=answer.null + 4)])
    assert settled.tau == graded([answer, replace(answer, null=answer.null + 4)], examples).best()


def test_only_data_with_unanswerable_questions_has_null_answers() -> None:
    kinds = {key: task_of(SOURCES[key].load(0, 1_500), Settings()) for key in ("questions", "unanswerable")}
    assert [task.unanswerable for task in kinds.values()] == [False, True]

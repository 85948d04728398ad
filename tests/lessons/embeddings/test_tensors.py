"""Tensors, step by step: every step's picture and shape, and the program that prints the same."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from demos.bert.embeddings.first_reviews import REVIEWS as FIRST_REVIEWS
from demos.bert.embeddings.pooling import Choice
from demos.bert.model.models import LoadedModel
from demos.lessons.embeddings.tensors.part import NAMES, SOURCES, TensorSteps
from demos.lessons.embeddings.tensors.program import FIVE, STEPS
from demos.page import progress
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.data.labelled_sentences import FILE, FILMS, REVIEWS, own_reviews, split_rows
from tests.page.tiny_store import TinyStore
from tests.programs import printed
from tests.shown_values import shown_values

TYPED = Sentence("", "", "")


def services_of(loaded: LoadedModel) -> Services:
    return Services(TinyStore(loaded, Path()), loaded.spec.key)


def shown(
    services: Services, step: str, source: str = FILMS, file: str | None = None, row: float = 5
) -> dict[str, Any]:
    choices = {"tensors_step": step, "tensors_data": source, "tensors_row": row, "file": file}
    return shown_values(TensorSteps().shown(services, TYPED, **choices))


def shape_on(picture: str) -> list[list[int]]:
    """The shapes that a step says it has."""
    said = re.search(r'data-shape="([^"]*)"', picture)
    assert said
    return [
        [int(size.replace(",", "")) for size in shape.split(" × ")] for shape in re.findall(r"\[([^\]]+)\]", said[1])
    ]


def test_every_step_has_its_shape_its_lines_and_its_picture(tiny: LoadedModel) -> None:
    services = services_of(tiny)
    assert len(NAMES) == len(STEPS)
    pictures = {step: str(shown(services, step)["picture"]) for step in STEPS}
    assert shape_on(pictures["padded"]) == shape_on(pictures["mask"])
    m, n, d = shape_on(pictures["states"])[0]
    assert (m, d) == (400, tiny.model.config.hidden_size)
    assert shape_on(pictures["padded"]) == [[m, n]]
    assert shape_on(pictures["slice"]) == [[m, d]]
    assert shape_on(pictures["table"]) == [[m, d + 1]]
    assert shape_on(pictures["split"]) == [[300, d], [100, d]]
    assert shape_on(pictures["regression"]) == [[1, d], [1]]
    code = shown(services, "texts")["program"]
    for step, picture in pictures.items():
        lines = re.search(r"<pre[^>]*><code>(.*?)</code>", picture, re.S)
        assert lines
        unescaped = lines[1].replace("&#34;", '"').replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">")
        assert unescaped in code, step
    assert pictures["states"].count("<image") == 6  # three faces for either paper
    assert pictures["slice"].count("<image") == 12
    assert str(shown(services, "no such step")["picture"]) == str(shown(services, "texts")["picture"])
    assert str(shown(services, "texts", row=1e9)["picture"]).count("followed") == 1


def test_the_texts_are_there_while_the_model_still_reads(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BETWEEN", 0)
    view, on = TensorSteps(), On(services_of(tiny), TYPED)
    changes = list(view.draw(on, view.read(on, {"tensors_row": 5})))
    early = [change["picture"] for change in changes if "Encoding" in change["status"]]
    assert early
    assert set(early) == {changes[-1]["picture"]}


def test_the_score_and_the_sum_are_scikit_learn_s(tiny: LoadedModel) -> None:
    services = services_of(tiny)
    data = own_reviews(only_films=True)
    split = split_rows(data, "0")
    features = next(iter(services.vectors.get(tiny, data.texts, [Choice("cls", tiny.model.config.num_hidden_layers)])))
    train, targets = features[split.train], data.targets[split.train]
    classifier = LogisticRegression(max_iter=2000).fit(train, targets)
    folds = cross_val_score(classifier, train, targets, cv=StratifiedKFold(5, shuffle=True, random_state=0))
    guess = DummyClassifier(strategy="most_frequent").fit(train, targets)
    test = features[split.test], data.targets[split.test]
    score = str(shown(services, "score")["picture"])
    assert f"<b>{classifier.score(*test):.3f}</b>" in score
    assert f"<b>{guess.score(*test):.3f}</b>" in score
    drawn = str(shown(services, "folds")["picture"])
    assert all(f"<b>{fold:.3f}</b>" in drawn for fold in [*folds, folds.mean()])
    chance = classifier.predict_proba(features[5][None])[0, 1]
    total = float(classifier.decision_function(features[5][None])[0])
    regression = str(shown(services, "regression")["picture"])
    assert f"<b>{chance:.3f}</b>" in regression
    assert f"<b>{total:.2f}</b>".replace("-", "−") in regression


def test_a_file_of_one_s_own_is_text_and_may_have_more_classes(tiny: LoadedModel, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    rows = [f"<b>${{x}}</b> number {number} of them,{'abc'[number % 3]}<i>" for number in range(30)]
    path.write_text("text,label\n" + "\n".join(rows), encoding="utf-8")
    services = services_of(tiny)
    assert "Choose a file" in shown(services, "texts", FILE)["status"]
    for step in STEPS:
        picture = str(shown(services, step, FILE, str(path))["picture"])
        assert "<b>$" not in picture, step
        assert "<i>" not in picture, step
    assert shape_on(str(shown(services, "regression", FILE, str(path))["picture"])) == [[3, 32], [3]]


@pytest.mark.slow
def test_the_program_prints_the_page_s_shapes_and_scores(bundled: LoadedModel) -> None:
    services = services_of(bundled)
    pictures = {step: str(shown(services, step)["picture"]) for step in STEPS}
    lines = dict(line.split(" ", 1) for line in printed(shown(services, "texts")["program"]))
    assert list(lines) == list(STEPS)
    for step in ("padded", "mask", "states", "slice", "table", "split", "regression", "folds"):
        numbers = [
            [int(size) for size in shape.split(",") if size.strip()]
            for shape in re.findall(r"\(([^)]*)\)", lines[step])
        ]
        assert numbers == shape_on(pictures[step]), step
    assert lines["texts"].split() == ["400", "400"]
    tokens = re.search(r"real tokens: ([\d,]+)", pictures["mask"])
    assert tokens
    assert tokens[1].replace(",", "") == lines["mask"].rsplit(" ", 1)[1]
    accuracy, guessing = lines["score"].split()
    assert f"<b>{float(accuracy):.3f}</b>" in pictures["score"]
    assert f"<b>{float(guessing):.3f}</b>" in pictures["score"]
    assert float(accuracy) > 0.6 > float(guessing)
    folds = np.array(eval(lines["folds"][lines["folds"].index("[") : lines["folds"].index("]") + 1]))
    assert all(f"<b>{fold:.3f}</b>" in pictures["folds"] for fold in folds)


@pytest.mark.parametrize("step", ["texts", "score"])
def test_the_numbers_list_all_shapes(tiny: LoadedModel, step: str) -> None:
    table = str(shown(services_of(tiny), step)["numbers"])
    assert table.count("<tr>") == len(STEPS) + 1
    assert "[400 × 2]" in table


def test_the_film_reviews_come_first_and_a_link_to_the_other_reviews_still_holds(tiny: LoadedModel) -> None:
    assert SOURCES[0] == ("our own film reviews", FILMS)
    services = services_of(tiny)
    first, other = (shown(services, "texts", source) for source in (FILMS, REVIEWS))
    assert "<b>Our own film reviews</b>: 400 rows, 2 classes." in first["status"]
    assert "a rich, layered drama with a knockout final act" in str(first["picture"])
    assert "assets/data/films.tsv" in first["program"]
    assert "<b>Reviews</b>: 440 rows, 2 classes." in other["status"]
    assert "assets/data/sentiment.tsv" in other["program"]


def test_the_first_rows_of_sst2_have_their_ids_and_both_shapes(bundled: LoadedModel) -> None:
    services = services_of(bundled)
    values = shown(services, "states", FIVE, row=2)
    picture = str(values["picture"])
    ids = [bundled.tokenizer(text)["input_ids"] for text, _ in FIRST_REVIEWS]
    rows = re.findall(
        r'<th scope="row">(\d)</th>\s*<td class="sentence">(.*?)</td><td>(\d)</td><td>\[(.*?)\]</td>', picture
    )
    assert [(unescape(text), int(label)) for _, text, label, _ in rows] == list(FIRST_REVIEWS)
    for row, expected in zip(rows, ids, strict=True):
        *first, mark, last = row[3].split(", ")
        assert mark == "…"
        assert [int(one) for one in first] == expected[: len(first)]
        assert int(last) == expected[-1]
    n, d = max(map(len, ids)), bundled.model.config.hidden_size
    assert "<td>[2,000 × 66 × 768]</td>" + f"<td>[5 × {n} × {d}]</td>" in picture
    assert picture.count('class="followed"') == 2  # the row, and the step
    lines = dict(line.split(" ", 1) for line in printed(values["program"]))
    assert lines["states"] == f"(5, {n}, {d})"
    assert lines["table"] == f"(5, {d + 1})"
    assert "score" not in lines

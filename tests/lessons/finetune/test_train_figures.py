"""The confusion matrix, the tables and the program of a training, against the numbers they are made of."""

import re
from pathlib import Path

import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import f1_score, precision_recall_fscore_support

from demos.bert.model.catalogue import CATALOGUE
from demos.bert.model.models import LoadedModel
from demos.figures.confusion import confusion_figure, matrix_html
from demos.figures.recipe import chain_html, cost_html, millions, preset_html, rate_html
from demos.figures.scores_text import chances_html, dataset_html, mistakes_html, numbers_html, scores_html
from demos.training.compute_cost import cost_of
from demos.training.data.tables import Row
from demos.training.events import Mistake, Result
from demos.training.learning.optimizer import learning_rate
from demos.training.metrics import score
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Example, build_dataset, load_emotion
from tests.one_line import flat
from tests.plotly_figure import plotly

NASTY = "<img src=x onerror=alert(1)>${alert(1)}{{7*7}}"
ROOT = Path(__file__).resolve().parents[3]
TARGETS, PREDICTED = [0, 0, 0, 1, 1, 2, 2, 2], [0, 0, 1, 1, 1, 2, 0, 2]


@pytest.fixture
def result() -> Result:
    scores = score(TARGETS, PREDICTED, 3)
    labels = ("calm", NASTY, "x" * 40)
    wrong = [k for k in range(8) if TARGETS[k] != PREDICTED[k]]
    return Result(
        labels=labels,
        accuracy=scores.accuracy,
        macro_f1=scores.macro_f1,
        loss=0.5,
        majority_label="calm",
        majority_accuracy=3 / 8,
        confusion=scores.confusion,
        mistakes=tuple(Mistake(f"{NASTY} {k}", TARGETS[k], PREDICTED[k], (0.2, 0.3, 0.5)) for k in wrong),
        steps=7,
        seconds=3.0,
        examples_per_second=9.0,
        folder="",
        answers=tuple(tuple(0.9 if k == guess else 0.05 for k in range(3)) for guess in PREDICTED),
    )


def test_where_all_parameters_are_trained_the_cost_says_which_do_not_change(tiny: LoadedModel) -> None:
    whole, frozen = (
        cost_of(load_emotion(), tiny.tokenizer, tiny.model, Settings(frozen_embeddings=frozen))
        for frozen in (False, True)
    )
    rows = len({token for example in load_emotion().train for token in tiny.tokenizer(example.text).input_ids})
    assert 0 < whole.without_gradient <= (30_522 - rows) * tiny.spec.width
    said = f"tokens not in the data ({millions(whole.without_gradient)}) get no gradient"
    assert said in flat(cost_html(whole, "50 s"))
    assert "gradient" not in cost_html(frozen, "50 s")


def test_the_confusion_matrix_shows_the_counts(result: Result) -> None:
    figure = plotly(confusion_figure(result))
    heat = figure.data[0]
    assert [[cell[2] for cell in row] for row in heat.customdata] == [list(row) for row in result.confusion]
    assert [sum(row) for row in heat.z] == pytest.approx([1, 1, 1])
    assert heat.z[2][2] == pytest.approx(2 / 3)
    assert "<img" not in figure.to_json()
    assert figure.layout.yaxis.autorange == "reversed"


def test_the_matrix_to_press_holds_every_sentence_in_its_cell(result: Result) -> None:
    tests = [Example(f"{NASTY} number {k}", target, "its pair" if k == 3 else "") for k, target in enumerate(TARGETS)]
    told = flat(matrix_html(result, tests))
    assert "<img" not in told
    for truth, row in enumerate(result.confusion):
        for guess, count in enumerate(row):
            cell = re.search(rf'data-cell="{truth}-{guess}".*?>(\d+)</button>', told)
            listed = re.search(rf'data-list="{truth}-{guess}"( hidden)?>(.*?)</section>', told)
            assert (int(cell[1]) if cell else 0) == count
            expected = [k for k in range(8) if (TARGETS[k], PREDICTED[k]) == (truth, guess)]
            assert [int(k) for k in re.findall(r"number (\d)", listed[2] if listed else "")] == expected
    assert told.count('aria-pressed="true"') == 1
    assert told.count("<section") - told.count(" hidden>") == 1  # one list is open: that of the commonest mistake
    assert "its pair" in told


def test_the_learning_rate_is_drawn_as_it_will_be() -> None:
    settings = Settings(warmup=0.25, schedule="cosine", learning_rate=2e-4)
    told = rate_html(settings, 121)
    points = [one.split(",") for one in re.search(r'<polyline points="([^"]+)"', told)[1].split()]  # type: ignore[index]
    for k, (x, y) in enumerate(points):
        assert float(x) == pytest.approx(100 * k / 120, abs=0.01)
        rate = learning_rate(k, 121, 2e-4, 0.25, "cosine")
        assert (38 - float(y)) / 36 == pytest.approx(rate / 2e-4, abs=1e-3)
    assert "rises to 2e-4 in the first 31 of 121 steps" in told
    assert "stays" in rate_html(Settings(warmup=0, schedule="constant"), 1)


def test_a_recipe_says_what_was_changed_in_it() -> None:
    assert preset_html("quick", "As <it> is.", {}) == "<p>As &lt;it&gt; is.</p>"
    one = preset_html("quick", "", {"learning_rate": 2e-5})
    assert "learning rate 2e-5" in one
    assert "change one" not in one
    assert "change only that one" in preset_html("quick", "", {"learning_rate": 2e-5, "hidden": (256, 64)})


@pytest.mark.parametrize(
    ("kind", "outputs", "words"),
    [
        ("sentence", 3, "3 classes"),
        ("entities", 3, "3 tags"),
        ("question", 2, "a start and an end"),
        ("labels", 3, "3 labels, a sigmoid for each"),
        ("choice", 1, "4"),
        ("similarity", 1, "one number, the score, without softmax"),
    ],
)
def test_the_chain_counts_its_fresh_numbers(kind: str, outputs: int, words: str) -> None:
    spec = CATALOGUE["minilm"]
    told = flat(chain_html(kind, spec, Settings(hidden=(64,)), ("a", "b", "c")))
    assert f"{spec.width * 64 + 64 + 64 * outputs + outputs:,} new parameters" in told
    assert words in told.replace("<b>", "").replace("</b>", "")


def test_scores_name_the_baseline_and_its_f1(result: Result) -> None:
    told = flat(scores_html(result, stopped=True))
    assert f"{result.accuracy:.1%}" in told
    dummy = DummyClassifier(strategy="constant", constant=0).fit([[0]] * 8, TARGETS)
    f1 = f1_score(TARGETS, dummy.predict([[0]] * 8), average="macro", zero_division=0)
    assert f"macro F1 {f1:.3f}" in told
    assert "stopped early" in told


def test_numbers_are_scikit_learns(result: Result) -> None:
    told = flat(numbers_html(result, [[0, None, 1.1, 0.25], [4, 0.9, 0.8, 0.5]], per_epoch=4))
    precision, recall, f1, support = precision_recall_fscore_support(TARGETS, PREDICTED)
    for values in zip(precision, recall, f1, strict=True):
        assert "".join(f"<td>{value:.3f}</td>" for value in values) in told
    assert all(f"<td>{count}</td>" in told for count in support)
    assert "<td>–</td><td>1.100</td><td>0.250</td>" in told
    assert "<td>1.00</td><td>0.900</td>" in told


def test_what_users_wrote_is_escaped_everywhere(result: Result) -> None:
    rows = [Row(k, f"{NASTY} {k}", NASTY if k % 2 else "b") for k in range(20)]
    shown = [
        mistakes_html(result),
        scores_html(result, False),
        numbers_html(result, [], 1),
        chances_html({NASTY: 0.7, "b": 0.3}, [NASTY, "b"], NASTY),
        dataset_html(build_dataset(NASTY, rows)),
    ]
    assert all("<img" not in one for one in shown)
    assert ["&lt;img" in one for one in shown] == [True, False, True, True, True]  # scores name "calm" alone
    assert mistakes_html(result).count("<tr>") == 1 + 2


def test_chances_are_ordered() -> None:
    told = flat(chances_html({"a": 0.2, "b": 0.5, "c": 0.3}, ["a", "b", "c"], "hm"))
    assert [told.index(f">{label}</th>") for label in "bca"] == sorted(told.index(f">{label}</th>") for label in "abc")
    assert "50.0%" in told
    assert "<b>b</b>." in told


def test_the_data_sets_counts_and_samples_are_shown() -> None:
    data = load_emotion()
    told = flat(dataset_html(data))
    assert f"{len(data.train)} sentences for training" in told
    for number, label in enumerate(data.labels):
        assert label in told
        assert f"</span>{data.counts('train')[number]}</td>" in told

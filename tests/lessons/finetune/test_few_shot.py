"""The table under the recipe "few examples": the stored figures, and where it is shown."""

from statistics import fmean

from demos.lessons.finetune.train.few_shot import METHODS, few_shot_html, measured
from demos.training.tasks.classification.data import load_emotion
from tests.one_line import one_line


def test_the_table_says_what_the_file_holds() -> None:
    accuracy = measured()["accuracy"]
    assert accuracy.keys() == METHODS.keys()
    assert measured()["test"] == len(load_emotion().test)
    shown = one_line(few_shot_html())
    for by_size in accuracy.values():
        assert list(by_size) == ["8", "16", "64"]
        cells = [f"<td>{fmean(scores):.1%}</td>" for scores in by_size.values()]
        assert "".join(cells) in shown
        assert {len(scores) for scores in by_size.values()} == {10}
    assert measured()["command"] in shown


def test_each_score_is_a_share_of_the_test_sentences() -> None:
    for by_size in measured()["accuracy"].values():
        for scores in by_size.values():
            for score in scores:
                assert abs(score * measured()["test"] - round(score * measured()["test"])) < 0.01

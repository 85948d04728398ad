"""Question files: what one says, its faults told with their line, and that every part has one."""

import re
from pathlib import Path

import pytest

from demos.errors import UserError
from demos.files import ASSETS
from demos.page.questions.question_file import MOST_BYTES, placeholders, read_question

QUESTION = """---
kind: choice
right: two
---

Is {words} *many*? <script>alert(1)</script>

## one: It is **one** &lt; two

Because of [a link](javascript:alert(1)).

## two: It is {{two}}

![a picture](https://example.org/x.png)

## Answer

Two.
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "attention" / "heads" / "question.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_question_is_read(tmp_path: Path) -> None:
    question = read_question(written(tmp_path, QUESTION), tmp_path)
    assert (question.lesson, question.part, question.name) == ("attention", "heads", "attention/heads")
    assert (question.kind, question.right, question.compute) == ("choice", "two", None)
    assert question.text == "<p>Is {words} <em>many</em>? &lt;script&gt;alert(1)&lt;/script&gt;</p>"
    assert [(answer.name, answer.text) for answer in question.answers] == [
        ("one", "It is <strong>one</strong> &lt; two"),
        ("two", "It is {{two}}"),
    ]
    assert question.revealed == "<p>Two.</p>"
    assert placeholders(question.text) == {"words"}
    for text in (question.answers[0].why, question.answers[1].why):
        assert "<img" not in text
        assert 'href="javascript' not in text


def test_the_question_that_the_readme_of_tours_shows_is_read(tmp_path: Path) -> None:
    readme = (ASSETS / "tours" / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```markdown\n(---\nkind:.*?)```", readme, flags=re.S)
    question = read_question(written(tmp_path, example), tmp_path)
    assert (question.kind, question.right) == ("choice", "random")
    assert {answer.name for answer in question.answers} == {"random", "swapped"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("---\nkind", "kind", "line 1: a question begins with a line ---"),
        ("kind: choice", "kind: essay", "line 2: the kind is one of choice, number, token."),
        (
            "right: two",
            "wrong: two",
            "line 3: a question says about, kind, last, order, right, unit, within, but no 'wr",
        ),
        ("right: two", "right: [two", "is not “name: value”."),
        ("right: two", "right: 2", "line 3: “right” is the name of an answer."),
        ("right: two", "right: three", "there is no answer named 'three'."),
        ("right: two", "", "say which answer is right, or compute it by `answer` in the part.py beside the file."),
        ("right: two", "right: two\nwithin: about", "line 4: “within” is a number or a percentage"),
        ("right: two", "right: two\nunit: " + 21 * "m", "line 4: a unit has at most 20 characters."),
        ("right: two", "right: two\norder: mixed", "line 4: the order is 'kept', or is not given."),
        ("right: two", "right: two\nabout: words", "line 4: a question is about the sentence, or says nothing of it."),
        ("right: two", "right: two\nlast: 2", "line 4: “last” names the answers that stay at the end"),
        ("right: two", "right: two\nlast: two, three", "there is no answer named 'three' to stay last."),
        ("## one: It", "## It", "line 8: a heading is “## name: text” or “## Answer”."),
        ("## one: It", "## two: It", "line 12: two answers are named 'two'."),
        ("one: It", "one: " + 161 * "m", "line 8: an answer has at most 160 characters."),
        ("{words}", "{words", "line 5: a brace is not closed"),
        ("{words}", "{words.real}", "line 5: {words.real} is not a valid placeholder."),
        ("{words}", "{tokens}", "{tokens} has no value before the answer."),
        ("Two.", "{tokens}.", "no `answer` gives a value for {tokens}."),
        ("Two.", "", "the text under “Answer” is missing."),
        ("## Answer", "## three: It is three", "line 18: the last heading, “## Answer”, is missing."),
        ("Two.", 901 * "m", "has more than 900 characters."),
        ("Two.\n", "Two.\n\n## Answer\n\nThree.\n", "line 20: there is one “## Answer” only."),
        ("kind: choice", "kind: number", "there is no answer named 'two'."),
        ("## two: It is {{two}}\n", "", "a choice has 2 to 5 answers"),
        (
            "## one: It",
            "".join(f"## more{number}: More\n\nWhy.\n\n" for number in range(4)) + "## one: It",
            "this one has 6.",
        ),
    ],
)
def test_a_fault_is_told_in_a_sentence(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in QUESTION
    with pytest.raises(UserError) as fault:
        read_question(written(tmp_path, QUESTION.replace(old, new, 1)), tmp_path)
    assert str(fault.value).startswith("attention/heads/question.md")
    assert said in str(fault.value)


def test_answers_are_mixed_the_same_way_in_any_order_of_the_file(tmp_path: Path) -> None:
    """By their names alone, unless the file keeps an order; those that are named stay last."""

    def order(names: list[str], settings: str = "", folder: str = "heads") -> list[str]:
        answers = "".join(f"## {name}: It is {name}\n\nWhy.\n\n" for name in names)
        path = tmp_path / "attention" / folder / "question.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\nkind: choice\nright: one\n{settings}---\n\nWhich?\n\n{answers}## Answer\n\nOne.\n", encoding="utf-8"
        )
        return [answer.name for answer in read_question(path, tmp_path).answers]

    names = ["one", "two", "three", "four", "all"]
    mixed = order(names)
    assert sorted(mixed) == sorted(names)
    assert all(order(names[turn:] + names[:turn]) == mixed for turn in range(5))
    assert len({order(names, folder=f"part{number}")[0] for number in range(20)}) > 3
    assert order(names, "order: kept\n") == names
    rest = [name for name in mixed if name not in ("one", "all")]
    ended = order(names, "last: all, one\n")
    assert (ended[:3], set(ended[3:])) == (rest, {"one", "all"})


NO_DAY = b"---\nkind: choice\nright: 2026-02-30\n---\n"


def test_files_that_are_no_text(tmp_path: Path) -> None:
    for content, said in (
        (b"\xff\xfe", "UTF-8"),
        (b"m" * (MOST_BYTES + 1), "at most 10 kB"),
        (b"", "line 1"),
        (NO_DAY, "line 2"),
    ):
        with pytest.raises(UserError, match=said):
            read_question(written(tmp_path, content), tmp_path)

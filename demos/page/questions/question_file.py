"""A question as a text file: question.md in a part's folder, front matter and Markdown.

    ---
    kind: choice
    right: pieces
    ---

    What does the model read for a word that is not in its vocabulary?

    ## unk: The token `[UNK]`

    Only where no pieces fit. (What is said of this answer once the picture is shown.)

    ## pieces: Shorter pieces that are in the vocabulary

    The longest piece that fits comes first.

    ## Answer

    Your sentence has {words} words and {tokens} tokens.

`kind` is choice, number or token. A choice has two to five answers, each a heading `## name: text`. For the other
kinds, the reader types a number or clicks a token; there, each such heading names a typical wrong answer.
`unit` is said after a number, and `within` is how far off a right number may be, as a number or as a percentage.

The answers to a choice are shuffled into one order, the same for everybody: a class and its lecturer, a room and a
printed tour speak of the same second answer. `last` names answers that stay at the end, such as “None of these”;
`order: kept` leaves all answers in the file's order, for those that are steps of a scale.

`about: sentence` says that the question depends on the sentence: when it is repeated, it is about another sentence
(demos/page/your_questions).

`right` names the right answer of a choice where it is the same for each sentence. Where it is not, and for all other
kinds, part.py beside the file computes it with

    def answer(services: Services, sentence: Sentence, layer: float) -> Answer: ...

whose further parameters are choices of the part, by their names in the link. It also gives the values of the
explanations' {placeholders}; with `right`, `answer` may be missing. The question and its answers are shown before
anything is computed, so their placeholders are the part's choices, and the page's own values: text, pair,
words (of both), layers, heads, width (of the model).
"""

import hashlib
import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from demos.errors import UserError
from demos.files import Json
from demos.lecturer_files import MARKDOWN, fault_at, front_matter, read_bounded

LESSONS = Path(__file__).resolve().parents[2] / "lessons"
KINDS = ("choice", "number", "token")
FRONT = {"kind", "right", "unit", "within", "order", "last", "about"}
KEPT = "kept"  # an order that is not mixed
SENTENCE = "sentence"  # the value of `about`
KNOWN = frozenset({"text", "pair", "words", "layers", "heads", "width"})  # to the page, before anything is computed
MOST_BYTES, LONGEST, LONGEST_ANSWER, LONGEST_UNIT = 10_000, 900, 160, 20  # of a file; characters of one text
FEWEST_ANSWERS, MOST_ANSWERS = 2, 5
HEADING = re.compile(r"## +(?:([a-z][a-z0-9_]*): +)?(.+)")
REVEALED = "Answer"  # the heading of what is said once the picture is shown
WITHIN = re.compile(r"(\d+(?:\.\d+)?) *(%?)")


@dataclass(frozen=True)
class Choice:
    """One answer of a choice, or one misconception of another kind. All texts are HTML with {placeholders}."""

    name: str
    text: str
    why: str  # why it is right or wrong


@dataclass(frozen=True)
class Question:
    """A part's question. All texts are HTML with {placeholders}, made of Markdown in which no HTML counts."""

    lesson: str
    part: str  # "" for a lesson without parts
    kind: str
    text: str
    answers: tuple[Choice, ...]
    revealed: str
    right: str = ""  # the name of the right answer, where no sentence changes it
    unit: str = ""
    within: float = 0.0
    within_share: bool = False  # `within` is a share of the right number
    about_sentence: bool = False  # another sentence makes another question of it
    compute: Callable[..., Any] | None = None  # the `answer` of part.py
    choices: tuple[str, ...] = ()  # the names of what `compute` reads beside the sentence

    @property
    def name(self) -> str:
        """lesson/part, or the lesson alone."""
        return f"{self.lesson}/{self.part}" if self.part else self.lesson


@cache
def questions() -> dict[tuple[str, str], Question]:
    """All questions, by (lesson, part); part is "" for a lesson without parts. UserError with the line of a fault."""
    all_questions = [read_question(path) for path in sorted(LESSONS.glob("**/question.md"))]
    return {(question.lesson, question.part): question for question in all_questions}


def read_question(path: Path, root: Path = LESSONS) -> Question:
    """The question in the file `path` in a part's folder below `root`.

    Raises UserError with the line of a fault.
    """
    place = path.parent.relative_to(root).parts
    file = "/".join((*place, path.name))
    lines = read_bounded(path, file, MOST_BYTES, "a question").splitlines()
    front, at = _front_matter(file, lines)
    headings = [number for number in range(at, len(lines)) if lines[number].startswith("## ")]
    text = _text(file, lines, at, headings[0] if headings else len(lines), "the question")
    answers: list[Choice] = []
    revealed = ""
    for first, end in zip(headings, [*headings[1:], len(lines)], strict=True):
        heading = HEADING.fullmatch(lines[first].rstrip())
        if heading is None or (heading[1] is None and heading[2] != REVEALED):
            raise fault_at(file, first, f"a heading is “## name: text” or “## {REVEALED}”")
        explanation = _text(file, lines, first + 1, end, f"the text under “{heading[2][:40]}”")
        if heading[1] is None:
            if revealed:
                raise fault_at(file, first, f"there is one “## {REVEALED}” only")
            revealed = explanation
            continue
        if len(heading[2]) > LONGEST_ANSWER:
            raise fault_at(file, first, f"an answer has at most {LONGEST_ANSWER} characters")
        if heading[1] in {answer.name for answer in answers}:
            raise fault_at(file, first, f"two answers are named {heading[1]!r}")
        answers.append(Choice(heading[1], _html(file, first, heading[2], inline=True), explanation))
    if not revealed:
        raise fault_at(file, len(lines) - 1, f"the last heading, “## {REVEALED}”, is missing")
    compute, choices = _computation(path, place)
    order, last = front.pop("order"), front.pop("last")
    if unknown := sorted(last - {answer.name for answer in answers}):
        raise UserError(f"{file}: there is no answer named {unknown[0]!r} to stay last.")
    if front["kind"] == "choice" and order != KEPT:
        answers = mixed("/".join(place), answers, last)
    question = Question(
        lesson=place[0],
        part="/".join(place[1:]),
        text=text,
        answers=tuple(answers),
        revealed=revealed,
        compute=compute,
        choices=choices,
        **front,
    )
    _check(file, question)
    return question


def mixed(question: str, answers: Sequence[Choice], last: Set[str]) -> list[Choice]:
    """The answers in an order that only the question's and their own names decide; those in `last` at the end."""

    def place(answer: Choice) -> tuple[bool, bytes]:
        return answer.name in last, hashlib.sha256(f"{question}: {answer.name}".encode()).digest()

    return sorted(answers, key=place)


def placeholders(html: str) -> set[str]:
    """The names of a text's {placeholders}."""
    return {name for _, name, _, _ in Formatter().parse(html) if name is not None}


def _front_matter(file: str, lines: Sequence[str]) -> tuple[Json, int]:
    """(what it says, the number of the first line after it)."""
    front, at = front_matter(file, lines, "a question begins with a line ---, a line “kind: …” and a line ---")

    def line_of(name: str) -> int:
        return next((number for number in range(1, at - 1) if lines[number].startswith(f"{name}:")), 1)

    for name in front:
        if name not in FRONT:
            raise fault_at(file, line_of(str(name)), f"a question says {', '.join(sorted(FRONT))}, but no {name!r}")
    if front.get("kind") not in KINDS:
        raise fault_at(file, line_of("kind"), f"the kind is one of {', '.join(KINDS)}")
    within = WITHIN.fullmatch(str(front.get("within", "0")))
    if within is None:
        raise fault_at(file, line_of("within"), "“within” is a number or a percentage, such as 0.5 or 10%")
    unit, right = front.get("unit", ""), front.get("right", "")
    if not isinstance(unit, str) or len(unit) > LONGEST_UNIT:
        raise fault_at(file, line_of("unit"), f"a unit has at most {LONGEST_UNIT} characters")
    if not isinstance(right, str):
        raise fault_at(file, line_of("right"), "“right” is the name of an answer")
    order, last = front.get("order", ""), front.get("last", "")
    if order not in ("", KEPT):
        raise fault_at(file, line_of("order"), f"the order is {KEPT!r}, or is not given")
    if not isinstance(last, str):
        raise fault_at(file, line_of("last"), "“last” names the answers that stay at the end, with commas between")
    about = front.get("about", "")
    if about not in ("", SENTENCE):
        raise fault_at(file, line_of("about"), f"a question is about the {SENTENCE}, or says nothing of it")
    fields = {
        "kind": front["kind"],
        "right": right,
        "unit": unit,
        "within": float(within[1]) / (100 if within[2] else 1),
        "within_share": bool(within[2]),
        "about_sentence": about == SENTENCE,
        "order": order,
        "last": frozenset(filter(None, map(str.strip, last.split(",")))),
    }
    return fields, at


def _text(file: str, lines: Sequence[str], first: int, end: int, what: str) -> str:
    text = "\n".join(lines[first:end]).strip()
    if not text:
        raise fault_at(file, min(first, len(lines) - 1), f"{what} is missing")
    if len(text) > LONGEST:
        raise fault_at(file, first, f"{what} has more than {LONGEST} characters")
    return _html(file, first, text)


def _html(file: str, line: int, text: str, inline: bool = False) -> str:
    """Markdown as HTML; its {placeholders} stay. A placeholder is a name, perhaps with a format: {share:.0%}."""
    try:
        names = placeholders(text)
    except ValueError as error:
        raise fault_at(file, line, "a brace is not closed; write {{ and }} for braces") from error
    for name in names:
        if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
            raise fault_at(file, line, f"{{{name}}} is not a valid placeholder")
    return str(MARKDOWN.renderInline(text) if inline else MARKDOWN.render(text)).strip()


def _computation(path: Path, place: Sequence[str]) -> tuple[Callable[..., Any] | None, tuple[str, ...]]:
    """`answer` of the part.py beside a file, and the names of its parameters after (services, sentence)."""
    if not path.with_name("part.py").exists():
        return None, ()
    answer = getattr(importlib.import_module(".".join(("demos.lessons", *place, "part"))), "answer", None)
    return answer, tuple(inspect.signature(answer).parameters)[2:] if answer else ()


def _check(file: str, question: Question) -> None:
    """Raises UserError where what the file says does not fit together."""
    names = [answer.name for answer in question.answers]
    if question.kind == "choice" and not FEWEST_ANSWERS <= len(names) <= MOST_ANSWERS:
        raise UserError(
            f"{file}: a choice has {FEWEST_ANSWERS} to {MOST_ANSWERS} answers, headings “## name: text”; "
            f"this one has {len(names)}."
        )
    if len(names) > MOST_ANSWERS:
        raise UserError(f"{file}: there are at most {MOST_ANSWERS} misconceptions; here are {len(names)}.")
    if question.right and (question.kind != "choice" or question.right not in names):
        raise UserError(f"{file}: there is no answer named {question.right!r}.")
    if not question.right and question.compute is None:
        raise UserError(f"{file}: say which answer is right, or compute it by `answer` in the part.py beside the file.")
    for text in _shown_first(question):
        if unknown := sorted(placeholders(text) - KNOWN - set(question.choices)):
            raise UserError(f"{file}: {{{unknown[0]}}} has no value before the answer.")
    if question.compute is None:
        for text in (question.revealed, *(answer.why for answer in question.answers)):
            if unknown := sorted(placeholders(text)):
                raise UserError(f"{file}: no `answer` gives a value for {{{unknown[0]}}}.")


def _shown_first(question: Question) -> Iterator[str]:
    yield question.text
    yield from (answer.text for answer in question.answers)

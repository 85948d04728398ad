"""The data on all questions in every page, for the scripts that repeat one."""

from collections.abc import Iterator, Sequence

from demos.files import Json
from demos.page.example_chips.example_chips import groups_for
from demos.page.lesson import Lesson
from demos.page.questions.question_file import Question, questions


def offered_questions(lessons: Sequence[Lesson]) -> Json:
    """{"names": {name in a link: {lesson, tab, about}}, "sentences": ...}, in the order of the lessons' parts.

    `lesson` and `tab` are the page's names of the lesson and its part; `about` says that the question is about the
    sentence on the page. "sentences" are others to use: the first examples of the first lesson.
    """
    names = {
        question.name: {"lesson": lesson.tab, "tab": tab, "about": question.about_sentence}
        for lesson in lessons
        for tab, question in questions_of(lesson)
    }
    first = groups_for(lessons[0].slug)[0] if lessons else {"examples": []}
    return {"names": names, "sentences": [example["text"] for example in first["examples"]]}


def questions_of(lesson: Lesson) -> Iterator[tuple[str, Question]]:
    """(the part's tab, its question) of a lesson, in the order of its parts."""
    for part, tab in lesson.tabs.items():
        if question := questions().get((lesson.slug, part)):
            yield tab, question

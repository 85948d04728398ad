"""Lesson: the models beside BERT, and what each changed. Its parts are the folders beside this."""

from demos.page.lesson import Lesson
from demos.page.parts import parts_of

LESSON = Lesson(
    slug="family",
    order=8,
    tab="Beside BERT",
    question="What changes when a model writes from left to right?",
    look=(
        "BERT and GPT differ in the words that a word's state depends on. Compare the two on the same sentence, and "
        "see what the other models of the family changed."
    ),
    parts=parts_of(__name__),
)

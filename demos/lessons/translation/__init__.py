"""Lesson: attention in its first use, translation by recurrent networks. Its parts are the folders beside this file."""

from demos.page.lesson import Lesson
from demos.page.parts import parts_of

LESSON = Lesson(
    slug="translation",
    order=7,
    tab="Before BERT",
    question="Why was attention invented?",
    look=(
        "Attention was introduced for translation in 2014, three years before the Transformer. At each step, the "
        "decoder gives a weight to every word of the source sentence. Here, small translators show what attention "
        "changed."
    ),
    parts=parts_of(__name__),
)

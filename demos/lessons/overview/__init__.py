"""Lesson: the whole way of a sentence through the model, in one picture."""

from demos.lessons.overview.part import LESSON as LESSON

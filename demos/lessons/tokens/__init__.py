"""Lesson: how BERT cuts words."""

from demos.lessons.tokens.part import LESSON as LESSON

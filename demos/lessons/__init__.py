"""The lessons, one folder a tab, and in it one folder a part: what the learner sees and touches (Gradio).

A new folder here is a new tab; a new folder in a lesson is a new part.
"""

import importlib
import pkgutil

from demos.page.lesson import Lesson


def discover() -> list[Lesson]:
    """Every lesson in this folder, in its order. One that fails to import, or has no LESSON, stops the start-up."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    lessons: list[Lesson] = sorted((module.LESSON for module in modules), key=lambda lesson: lesson.order)
    slugs = [lesson.slug for lesson in lessons]
    if len(set(slugs)) != len(slugs):
        raise ValueError(f"two lessons share a slug: {slugs}")
    return lessons

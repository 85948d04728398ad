"""The bundled model as the lessons use it, and the pages of all lessons, for the tests that ask every part."""

import gradio as gr
import pytest

from demos.bert.model.models import LoadedModel, ModelStore
from demos.page.delivery.first_views import FirstViews
from demos.page.lesson import Page
from demos.page.services import Services


@pytest.fixture(scope="module")
def services(store: ModelStore, bundled: LoadedModel) -> Services:
    return Services(store, bundled.spec.key)


@pytest.fixture(scope="session")
def pages(built: tuple[gr.Blocks, FirstViews]) -> dict[str, tuple[gr.Blocks, Page]]:
    """Each lesson's page by its name, and the Gradio app that they are in."""
    demo, views = built
    return {page.lesson.slug: (demo, page) for page in views.pages}

"""The pages of all lessons, built once for the tests that ask every part."""

from __future__ import annotations

import gradio as gr
import pytest

from app import build_pages
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import LoadedModel, ModelStore
from demos.page.delivery.first_views import FirstViews
from demos.page.lesson import Page
from demos.page.services import Services


@pytest.fixture(scope="session")
def pages(store: ModelStore, bundled: LoadedModel) -> dict[str, tuple[gr.Blocks, Page]]:
    """Each lesson's page by its name, and the Gradio app that they are in."""
    views = FirstViews()
    demo = build_pages(Services(store, BUNDLED), views)
    return {page.lesson.slug: (demo, page) for page in views.pages}

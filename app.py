"""Inside BERT: assembles the lessons into one page and launches it."""

from __future__ import annotations

import os

# Read when they are imported: waiting OpenMP threads sleep, since spinning starves a training on two busy cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
# After each event Gradio makes a table of up to 10,000 events, for statistics that are off here: after so many instead.
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1000000000")

import spaces  # noqa: F401  # isort: skip  (before anything that touches CUDA; off ZeroGPU it changes nothing)

import gc
import signal
import sys
from collections.abc import Sequence
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from transformers.utils import logging as transformers_logging

from demos.bert.model.catalogue import CATALOGUE, extend_catalogue
from demos.bert.model.models import ModelStore, default_key, one_thread_a_pass
from demos.errors import UserError
from demos.lessons import discover
from demos.page.bar import build_bar, build_ticks, lesson_heading, wire_bar
from demos.page.command_line import Settings, check_port, read_settings
from demos.page.gradio_sessions import keep_sessions_small
from demos.page.head import build_header, head, style_sheets
from demos.page.lesson import Page
from demos.page.page_delivery import PageCache
from demos.page.parts import build_lesson, part_ticks
from demos.page.protection import MIDDLEWARE, protect_server
from demos.page.services import Services
from demos.page.theme import build_theme
from demos.training.data.upload_limit import MAX_UPLOAD
from demos.widgets.bertviz.view import static_paths
from demos.widgets.takeaway import takeaway

MAX_WAITING_EVENTS = 2_048  # of all readers: a hall of a hundred that opens the page at once posts eight hundred
UPLOADS_KEPT = (3_600, 7_200)  # seconds: each hour, uploads older than two are deleted


def build_page(services: Services) -> gr.Blocks:
    """The whole page: header, sentence bar, and one tab a lesson."""

    pages: list[Page] = []
    opened: dict[str, gr.Tab] = {}
    with gr.Blocks(title="Inside BERT", analytics_enabled=False, fill_width=True, delete_cache=UPLOADS_KEPT) as demo:
        build_header()
        bar = build_bar(services)
        lessons = discover()
        ticks = {lesson.slug: build_ticks() for lesson in lessons}
        parts = {lesson.slug: part_ticks(lesson) for lesson in lessons}
        trained, history = gr.State(""), gr.State([])
        with gr.Tabs(elem_id="lessons", overflow_behavior="wrap") as tabs:
            for lesson in lessons:
                with gr.Tab(lesson.tab, id=lesson.slug, elem_id=f"lesson-{lesson.slug}") as opened[lesson.slug]:
                    gr.HTML(lesson_heading(lesson), elem_classes="lesson-heading")
                    page = Page(
                        lesson=lesson,
                        services=services,
                        text=bar.text,
                        text_pair=bar.text_pair,
                        model=bar.in_use,
                        typed=ticks[lesson.slug][0],
                        settled=ticks[lesson.slug][1],
                        notices=gr.Column(elem_classes="lesson-notices"),
                        trained=trained,
                        history=history,
                        reader=bar.reader,
                        returning=bar.returning,
                    )
                    build_lesson(page, parts[lesson.slug])
                    pages.append(page)
        wire_bar(demo, bar, tabs, pages, opened)
    demo.queue(max_size=MAX_WAITING_EVENTS, default_concurrency_limit=8, api_open=False)  # nothing runs past the queue
    return demo


def launch_options(settings: Settings) -> dict[str, Any]:
    """What `Blocks.launch` is told: our look, our guards, and nothing from outside."""
    return {
        "server_name": settings.host,
        "server_port": settings.port or None,
        "share": settings.share,
        "root_path": settings.root_path or None,
        "theme": build_theme(),
        "css_paths": style_sheets(),
        "head": head(takeaway.SCRIPT),
        "max_file_size": MAX_UPLOAD,
        "app_kwargs": {"middleware": [*MIDDLEWARE, Middleware(PageCache)]},
        "footer_links": ["api"],
        "ssr_mode": False,
        "_frontend": False,  # no request to our own page on start: on a busy machine it gives up after 3 seconds
        "show_error": False,  # only what a lesson chose to say reaches a reader; the log has the rest
        "state_session_capacity": 500,
        "run_history": False,
        "enable_monitoring": False,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the app; 2 and one sentence on standard error where it can't."""
    settings = read_settings(arguments)
    try:
        store = ModelStore(extend_catalogue(settings.catalogue) if settings.catalogue else CATALOGUE)
        model = store.spec(settings.model or default_key(store.catalogue)).key
        if settings.port:
            check_port(settings.host, settings.port)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    title = store.spec(model).title
    print(f"Loading {title} in the background; the page opens at once.", flush=True)
    store.begin(model).add_done_callback(lambda loading: print(loading.exception() or f"{title} is ready.", flush=True))
    transformers_logging.disable_progress_bar()
    one_thread_a_pass()
    gr.set_static_paths(static_paths())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that temporary folders are removed
    keep_sessions_small()
    protect_server()
    page = build_page(Services(store, model))
    gc.freeze()  # the page stays: without this every full collection walks its million objects, 0.3 s each
    page.launch(**launch_options(settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())

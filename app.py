"""Inside BERT: assembles a page for each lesson and launches them."""

from __future__ import annotations

import gc
import os

gc.disable()  # no search for unreachable objects at the start: nearly all that is made stays, and each walks all of it

# Read when they are imported. Threads that wait must not spin, which starves readers and trainings on two busy cores:
# those of OpenMP sleep, and NumPy's small products use no others, since OpenBLAS spins for 30 ms after each.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# oneDNN compiles code for each shape of a product, some 0.4 MB, and keeps 1,024 entries, two for each shape. PyTorch
# keeps the code of 1,024 shapes for each thread. Sentences of all lengths would take half a gigabyte, and more in
# several threads. A shape whose code is not kept costs 0.5 ms. With a capacity of 0, PyTorch crashes.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "512")
os.environ.setdefault("LRU_CACHE_CAPACITY", "16")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
# Gradio makes statistics of its last 10,000 events after each event, which nobody reads here: of one, after so many.
os.environ |= {"GRADIO_ANALYTICS_MAX_EVENTS": "1", "GRADIO_ANALYTICS_CACHE_FREQUENCY": "1000000000"}

import spaces  # noqa: F401  # isort: skip  (before anything that touches CUDA; off ZeroGPU it changes nothing)

import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, JSONResponse
from transformers.utils import logging as transformers_logging

from demos.bert.model.catalogue import CATALOGUE, check_bert, extend_catalogue
from demos.bert.model.freed_memory import keep_giving_back
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import ModelStore, default_key, one_thread_a_pass
from demos.bert.model.own_folder import with_folder
from demos.errors import UserError
from demos.figures import cell_strip
from demos.lessons import discover
from demos.page import embed
from demos.page.bar import build_bar, lesson_heading, lesson_links, wire_bar
from demos.page.command_line import Settings, check_frames, check_mcp, check_port, read_settings
from demos.page.delivery import fonts, own_files, program_files
from demos.page.delivery.first_views import FirstViews
from demos.page.delivery.fixed_answers import ASK_EACH_TIME, FixedAnswers
from demos.page.delivery.lesson_addresses import LessonAddresses
from demos.page.delivery.page_cache import PageCache
from demos.page.delivery.view_endpoint import view_endpoint
from demos.page.delivery.wrong_address import WrongAddress
from demos.page.ending import ASKED_TO_END, ending
from demos.page.finder import finder
from demos.page.glossary import glossary
from demos.page.head import script, style_sheet
from demos.page.larger_model.larger_model import LargerModel, LargerModelRoute
from demos.page.lesson import Lesson, Page
from demos.page.parts import build_lesson, unread_parts
from demos.page.patches.inner_parts import OWN_REQUEST, PAGES_AT_ONCE, READ
from demos.page.patches.mend import mended_scripts
from demos.page.patches.patch import apply_patches, check_places
from demos.page.patches.patches import MENDS, PATCHES
from demos.page.progress import HEAVY
from demos.page.protection import INNERMOST, guards
from demos.page.protection.error_log import keep_log_small
from demos.page.questions.cards import build_cards
from demos.page.questions.question_file import questions
from demos.page.room.link_and_qr_code import is_own, network_address
from demos.page.room.rooms import Rooms
from demos.page.room.routes import RoomRoutes
from demos.page.room.runs import RoomRuns
from demos.page.services import Services
from demos.page.theme import build_theme
from demos.page.tours.checks import Place, check_tour
from demos.page.tours.pack import packed, write_pack
from demos.page.tours.places import places_of
from demos.page.tours.served import Tours
from demos.page.tours.tour_file import Tour, bundled_tours, read_tour
from demos.page.visitor import NamedBrowsers
from demos.page.your_questions.catalogue import offered_questions
from demos.page.your_questions.served import YourQuestions
from demos.system import print_any_character
from demos.training.data.upload_limit import MAX_UPLOAD
from demos.training.service.stored_runs import stored_runs
from demos.training.service.training_service import TrainingService
from demos.widgets.bertviz.frame import static_paths
from demos.widgets.live_curve import live_curve
from demos.widgets.run_controller.run_controller import FOLLOWERS
from demos.widgets.takeaway import takeaway

gc.freeze()  # the libraries stay: without this every full collection walks their million objects, 0.3 s each
gc.enable()

# Of all readers: a hall of three hundred that opens other sentences at once posts nine hundred.
MAX_WAITING_EVENTS = 2_048
TOOLS = ("/tokenize", "/attention", "/embeddings", "/fill_mask", "/next_sentence")  # of MCP
GIVEN_BACK = 30.0  # seconds between two times that free memory is given back: 0.1 s of one core
UPLOAD_CLEANUP = (3_600, 7_200)  # seconds: each hour, uploads older than two are deleted


def build_pages(services: Services, first_views: FirstViews | None = None) -> gr.Blocks:
    """A page for each lesson, sent alone to who opens it: header, sentence bar, links to the lessons, the lesson."""
    lessons = discover()
    demo = gr.Blocks(title="Inside BERT", analytics_enabled=False, fill_width=True, delete_cache=UPLOAD_CLEANUP)
    # It builds the web server's application again, which is quick while there is no page.
    demo.queue(max_size=MAX_WAITING_EVENTS, default_concurrency_limit=8)
    for lesson in opened_pages(demo, lessons):
        page = build_page(demo, services, lesson, lessons, first_views or FirstViews())
        if lesson is lessons[0]:
            page.endpoint(view_endpoint(services, lessons), **HEAVY)
    return demo


def opened_pages(demo: gr.Blocks, lessons: Sequence[Lesson]) -> Iterator[Lesson]:
    """Each lesson, while its page of `demo` is open to be built; the first one's is the page without a name."""
    first, *others = lessons
    if not PAGES_AT_ONCE.is_fit():
        with demo:
            yield first
        for lesson in others:
            with demo.route(lesson.tab, lesson.slug, show_in_navbar=False):
                yield lesson
        return
    with demo:
        yield first
        for lesson in others:
            demo.fill_expected_parents()  # none for two pages at once
            demo.pages.append((lesson.slug, lesson.tab, False))
            demo.current_page = lesson.slug
            yield lesson


def build_page(
    demo: gr.Blocks, services: Services, lesson: Lesson, lessons: Sequence[Lesson], first_views: FirstViews
) -> Page:
    """One lesson's page, in the page of `demo` that is being built."""
    bar = build_bar(services, lesson.slug)
    with gr.Column(elem_id="lessons"):
        lesson_links(lesson, lessons)
        with gr.Column(elem_id=f"lesson-{lesson.slug}", elem_classes=["lesson", *unread_parts(lesson)]):
            gr.HTML(lesson_heading(lesson), elem_classes="lesson-heading")
            page = Page(
                lesson=lesson,
                services=services,
                text=bar.text,
                text_pair=bar.text_pair,
                model=bar.in_use,
                typed=bar.typed,
                settled=bar.settled,
                notices=gr.Column(elem_classes="lesson-notices"),
                trained=gr.State(""),
                history=gr.State([]),
                reader=bar.reader,
                returning=bar.returning,
                opening=[bar.typed, bar.settled],
            )
            build_lesson(page)
            build_cards(page)
    wire_bar(demo, bar, page)
    first_views.add(page, bar.first_view)
    return page


def launch_options(
    settings: Settings,
    first_views: FirstViews,
    tours: Sequence[Tour] = (),
    places: Mapping[str, Place] | None = None,
    outside: Sequence[Middleware] = (),
) -> dict[str, Any]:
    """The arguments of `Blocks.launch`: our look, our guards, the middleware `outside` of Gradio, and no others."""
    lessons = discover()
    slugs = [lesson.slug for lesson in lessons]
    widgets = [takeaway.SCRIPT, cell_strip.SCRIPT, live_curve.SCRIPT, *([embed.SCRIPT] if settings.frame else [])]
    files = own_files.own_files(script(*widgets, tours=tours, questions=offered_questions(lessons)), style_sheet())
    glossary_answer = HTMLResponse(glossary.glossary_html(), headers=ASK_EACH_TIME)
    fixed = {glossary.ADDRESS: glossary_answer, **fonts.font_answers(), **program_files.program_answers(), **files}
    return {
        "server_name": settings.host,
        "server_port": settings.port or None,
        "share": settings.share,
        "root_path": settings.root_path or None,
        "theme": build_theme(),
        "max_file_size": MAX_UPLOAD,
        "app_kwargs": {
            "middleware": [
                *guards(settings.frame),
                Middleware(WrongAddress),
                Middleware(NamedBrowsers),
                Middleware(Tours, tours=tours, places=places or {}),
                Middleware(YourQuestions, lessons=lessons, host=settings.host),
                *outside,
                Middleware(LessonAddresses, lessons=slugs),
                Middleware(
                    PageCache,
                    pages=[f"/{slug}" for slug in slugs],
                    edition=lambda: first_views.edition,
                    scripts=mended_scripts(MENDS),
                    head=own_files.own_tags(files),
                ),
                Middleware(FixedAnswers, answers=fixed, folders=(fonts.AT, program_files.AT, own_files.AT)),
                INNERMOST,
            ]
        },
        "footer_links": [{"label": "Glossary", "url": "glossary"}, "api"],
        "ssr_mode": False,
        **({"_frontend": False} if OWN_REQUEST.is_fit() else {}),
        "show_error": False,  # only what a lesson chose to say reaches a reader; the log has the rest
        "state_session_capacity": 2_000,  # open pages among them: see demos/page/patches/gradio_sessions.py
        "max_threads": 40 + FOLLOWERS,  # a waiting reader holds a thread: 40, Gradio's own number, for all others
        "mcp_server": settings.mcp,
        "run_history": False,
        "enable_monitoring": False,
    }


def offer_tools(page: gr.Blocks) -> None:
    """Of the endpoints that Gradio offers to programs that speak MCP, keep those that begin no training.

    They answer in JSON, where Gradio would write a dictionary as Python does.
    """
    server = page.mcp_server_obj
    if not server:
        return
    for name in [name for name, endpoint in server.tool_to_endpoint.items() if endpoint not in TOOLS]:
        del server.tool_to_endpoint[name]
    written = server.postprocess_output_data
    server.postprocess_output_data = lambda values, url: written([json.dumps(value) for value in values], url)


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the app; 2 and one sentence on standard error where it can't."""
    print_any_character()
    settings = read_settings(arguments)
    try:
        catalogue = extend_catalogue(settings.catalogue) if settings.catalogue else CATALOGUE
        memory = Budget()
        if settings.model_folder:
            catalogue = with_folder(catalogue, settings.model_folder, memory.most)
        store = ModelStore(catalogue, memory, any_model=settings.any_model)
        model = store.spec(settings.model or default_key(catalogue)).key
        check_bert(store.spec(model))  # all lessons open with it
        check_frames(settings.frame)
        if settings.mcp:
            check_mcp()
        if settings.port and not settings.pack:
            check_port(settings.host, settings.port)
        files = [*bundled_tours(), *([Path(settings.tour)] if settings.tour else [])]
        tours = [read_tour(file) for file in files]
        questions()  # a faulty file is reported before anything is loaded
        rooms = Rooms([lesson.slug for lesson in discover()], settings.room_letter)
        to_pack = [read_tour(Path(file)) for file in settings.pack[:1]]
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    title = store.spec(model).title
    print(f"Loading {title} in the background; the page opens at once.", flush=True)
    loading = store.begin(model)
    transformers_logging.disable_progress_bar()
    one_thread_a_pass()
    gr.set_static_paths(static_paths())
    services = Services(store, model, trainings=TrainingService(stored_runs(settings.runs), store.memory))
    end = ending(services.trainings, rooms.end)
    for kind in ASKED_TO_END:
        signal.signal(kind, end)
    keep_log_small()
    apply_patches(PATCHES)
    check_places([OWN_REQUEST, PAGES_AT_ONCE, *READ])
    first_views = FirstViews()
    gc.disable()
    page = build_pages(services, first_views)
    gc.freeze()  # as the libraries, the page stays
    gc.enable()
    try:
        places = places_of(page, first_views.pages)
        for tour in [*tours, *to_pack]:
            check_tour(tour, places)
        for tour in to_pack:
            loading.result()
            write_pack(packed(tour, page, first_views.pages), Path(settings.pack[1]))
            end()
    except UserError as error:
        print(error, file=sys.stderr)
        end(code=2)
    index = JSONResponse(finder.entries(page, discover(), tours), headers=ASK_EACH_TIME)
    outside = [
        Middleware(FixedAnswers, answers={finder.ADDRESS: index}),
        Middleware(LargerModelRoute, larger=LargerModel(store.catalogue)),
        Middleware(RoomRoutes, rooms=rooms, host=settings.host, runs=RoomRuns(services, rooms)),
    ]
    page.launch(**launch_options(settings, first_views, tours, places, outside), prevent_thread_lock=True)
    offer_tools(page)
    if is_own(settings.host) and settings.host not in ("127.0.0.1", "localhost") and (network := network_address()):
        print(f"Others in this network open http://{network}:{page.server_port}", flush=True)

    def loaded(loading: Future[Any]) -> None:
        if not loading.exception():
            first_views.draw(page)
            services.trainings.on_speed = lambda: first_views.draw_again(page)
        print(loading.exception() or f"{title} is ready.", flush=True)

    loading.add_done_callback(loaded)
    keep_giving_back(GIVEN_BACK)
    page.block_thread()
    end()  # by Ctrl+C
    return 0


if __name__ == "__main__":
    sys.exit(main())

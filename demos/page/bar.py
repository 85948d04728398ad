"""The sentence bar above all lessons: type once, walk through every lesson; it survives a reload and fits in a link."""

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.events import Dependency
from markupsafe import Markup

from demos.bert.family.members import member_like, member_named
from demos.bert.model.by_name.model_checks import OtherArchitectureError
from demos.bert.model.catalogue import ARCHITECTURES
from demos.bert.model.models import at_hand
from demos.errors import UserError
from demos.files import read_beside
from demos.page.example_chips.example_chips import example_chips
from demos.page.glossary.glossary import with_terms
from demos.page.guards import OUR_FAULT
from demos.page.head import SWITCHES, __file__, build_switches
from demos.page.lesson import IN_BROWSER, Lesson, Page
from demos.page.services import Services
from demos.templates import in_script, templates
from demos.training.service.own_models import key_of, name_of

TEXT = templates(__file__)
log = logging.getLogger(__name__)
WAITING_LIMIT = 32  # readers at once who wait for a model
AT_ONCE = 0.05  # seconds: what is known already needs no looking for
SHOWN = 60  # characters of a name that is looked for
POLL = 0.5  # seconds between two looks at a model that is loading
PICKER = "file-picker"  # the class of what takes a reader's own file (demos/widgets/file_picker)
# On a phone the row of lessons is pushed sideways: the open one is in sight. After `scrollIntoView` some Chromium would
# begin at the open lesson when Tab is pressed, and not at the top of the page.
SHOW_LESSON = """const open = element.querySelector("[aria-current]");
const middle = (box) => box.getBoundingClientRect().left + box.clientWidth / 2;
open?.parentElement.scrollBy({ left: middle(open) - middle(open.parentElement), behavior: "instant" });"""
DEFAULT_TEXT = "The unflappable banker counted her money on the bank of the river."


@dataclass(frozen=True)
class Bar:
    """The bar's components. `model` is the picker; `in_use` holds the key that lessons compute with."""

    text: gr.Textbox
    text_pair: gr.Textbox
    model: gr.Dropdown
    in_use: gr.Textbox
    requested_model: gr.Textbox
    status: gr.HTML
    arrival: gr.HTML  # its `select` shows the view that link.js has received
    reader: gr.Textbox  # the page's key, its browser's and its tab's, by which a reader's runs are found again
    returning: gr.Textbox  # the same where this browser has trained here before; else empty
    typed: gr.Textbox  # changes at once while someone types, for what is quicker than a model
    first_view: gr.Textbox  # the page's first view, as JSON (demos/page/delivery/first_views.py)
    settled: gr.Textbox  # changes when the lesson should redraw: opened, or the bar rested for 200 ms


def build_bar(services: Services, lesson: str) -> Bar:
    """Lay the bar out on the page of `lesson`, with the page's title and switches in its row, and wire its examples."""
    with gr.Column(elem_id="bar"):
        with gr.Row(equal_height=False):
            gr.HTML(read_beside(__file__, "header.html"), elem_id="header", padding=False)
            text = gr.Textbox(
                DEFAULT_TEXT,
                label="Sentence",
                placeholder="Type a sentence here",
                lines=1,
                max_lines=5,
                scale=7,
                min_width=200,
                elem_id="bar-text",
            )
            text_pair = gr.Textbox(
                "",
                label="Second sentence (optional)",
                placeholder="+ second sentence",  # while empty, it looks like a button (page.css)
                lines=1,
                max_lines=5,
                scale=4,
                min_width=120,
                elem_id="bar-pair",
            )
            example_chips(lesson, text, text_pair)
            model = gr.Dropdown(
                _menu(services, ""),
                value=services.default_model,
                label="Model, or owner/name on the Hub" if services.store.named else "Model",
                allow_custom_value=services.store.named is not None,
                scale=2,
                min_width=150,
                elem_id="bar-model",
            )
            status = gr.HTML(_status(services, services.default_model), elem_id="bar-status", padding=False)
            build_switches()
        arrival = gr.HTML(  # texts too long for the link; and link.js's event for another view
            '<p role="status" hidden></p>',
            js_on_load="insideBert.link.arrive = () => trigger('select')",
            elem_id="bar-link",
        )
    in_use = gr.Textbox(services.default_model, visible="hidden", elem_id="bar-in-use")
    requested_model, reader, returning, typed, settled = (gr.Textbox("", visible="hidden") for _ in range(5))
    first_view = gr.Textbox("", visible="hidden", elem_id="first-view")
    return Bar(
        text, text_pair, model, in_use, requested_model, status, arrival, reader, returning, typed, first_view, settled
    )


def wire_bar(demo: gr.Blocks, bar: Bar, page: Page) -> None:
    """Connect bar, lesson and link: when the lesson redraws, and what the address bar says."""
    services = page.services
    latest = gr.State([])  # copied for each session

    def pick(model: str, in_use: str, reader: str, latest: list[str]) -> Iterator[list[Any]]:
        latest[:] = [model]  # this session's own list: an earlier pick, still loading, sees that it was overtaken
        for update in use_model(services, model, in_use, reader):
            if latest != [model]:
                return
            yield update

    def begin(requested_model: str, in_use: str, reader: str) -> Iterator[list[Any]]:
        yield from use_model(services, requested_model or services.default_model, in_use, reader)

    private = {"api_visibility": "private", "show_progress": "hidden"}
    # Many may wait at once: waiting is only looking now and then at a load that all of them share.
    loading = private | {"concurrency_id": "load", "concurrency_limit": WAITING_LIMIT}
    chosen = [bar.model, bar.in_use, bar.status]
    bar.model.input(
        pick,
        [bar.model, bar.in_use, bar.reader, latest],
        chosen,
        trigger_mode="multiple",
        js="(model, ...others) => insideBert.link.picks(model, ...others)",
        **loading,
    )
    # The runs of this browser: as its page opens, and when one is over.
    known = [bar.returning.change, page.history.change]
    gr.on(
        known,
        lambda reader, in_use: gr.update(choices=_menu(services, reader, in_use or "")),
        [bar.reader, bar.in_use],
        [bar.model],
        trigger_mode="multiple",
        **private,
    )

    changed = [bar.text.change, bar.text_pair.change, bar.in_use.change]
    says = [bar.text, bar.text_pair, bar.in_use]
    typed = "(text, pair, inUse) => insideBert.link.typed(text, pair, inUse)"
    gr.on(changed, None, says, bar.typed, js=typed, **IN_BROWSER)
    gr.on(changed, None, [bar.in_use], bar.settled, js="(model) => insideBert.link.settled(model)", **IN_BROWSER)
    for name, component in page.choices.items():  # an event each: Gradio looks up all of an event's components
        keep = f"(value) => insideBert.link.keep({in_script(name)}, value)"
        component.change(None, [component], None, js=keep, **IN_BROWSER)

    files = [block for block in demo.blocks.values() if _is_picker(block) and block.page == demo.current_page]
    if files:
        changes = [file.change for file in files]
        gr.on(changes, None, files, None, js="(...values) => insideBert.link.holdFiles(...values)", **IN_BROWSER)

    offers = list(page.schema().values())
    defaults = in_script({"text": DEFAULT_TEXT, "pair": ""})
    restore = (
        f"() => insideBert.link.restore({defaults}, {in_script(page.lesson.slug)}, {in_script(offers)}, {len(files)})"
    )
    restored = [bar.text, bar.text_pair, bar.requested_model, bar.reader, bar.returning, *page.choices.values(), *files]
    opened = "(text, pair, inUse) => insideBert.link.opened(text, pair, inUse)"
    begins = "(asked, inUse) => insideBert.link.begins(asked, inUse)"
    asks = "(asked, inUse) => insideBert.link.asks(asked, inUse)"

    def then_opens(restored: Dependency, models: str) -> None:
        """Wire the step after text and choices have their values: the model that `models`, a script, requests."""
        (
            restored.then(None, says, [bar.typed, bar.settled], js=opened, **private)
            .then(None, [bar.requested_model, bar.in_use], None, js=models, **private)
            .then(begin, [bar.requested_model, bar.in_use, bar.reader], chosen, **loading)
            .then(None, [bar.in_use], None, js="(model) => insideBert.link.begun(model)", **private)
        )

    then_opens(demo.load(None, None, restored, js=restore, **private), begins)
    shown = [bar.text, bar.text_pair, bar.requested_model, *page.choices.values()]
    then_opens(bar.arrival.select(None, None, shown, js="() => insideBert.link.takeView()", **IN_BROWSER), asks)


def use_model(services: Services, wanted: str, in_use: str, reader: str = "") -> Iterator[list[Any]]:
    """Yields [picker, key in use, status]: the wanted model once it is loaded, or the one before with a sentence.

    `wanted` is a key, the name of a run of the `reader`'s or of their room's (`key_of`), or the name of a model on the
    Hub where the app was started so; then its key is what is yielded.
    """
    wanted, picker = key_of(wanted, reader), wanted
    try:
        if picker != wanted:
            picker = gr.update(choices=_menu(services, reader, wanted), value=name_of(wanted))
        elif services.store.named:
            member = member_named(wanted)  # of the family, at its pinned revision: no request to the Hub
            if member and member.model_type not in ARCHITECTURES:
                yield _refused(services, in_use, TEXT.beside(member))
                return
            finding = services.store.begin_find(wanted)
            if wait([finding], timeout=AT_ONCE).not_done:
                yield [gr.skip(), gr.skip(), TEXT.status(TEXT.finding(str(wanted)[:SHOWN]), "busy")]
            wanted = picker = finding.result().key
        spec = services.store.spec(wanted)
        if not services.store.ready(wanted):
            # A model on this disk is used at once (tokens need no weights); one to be fetched only when it is here.
            now = [picker, wanted] if at_hand(spec) else [gr.skip(), gr.skip()]
            loading = services.store.begin(wanted)
            while not loading.done():
                yield [*now, TEXT.status(TEXT.loading(spec, services.store.progress(wanted)), "busy")]
                wait([loading], timeout=POLL)
            loading.result()
        yield [picker, wanted, _status(services, wanted)]
    except UserError as error:
        like = isinstance(error, OtherArchitectureError) and member_like(error.model_type)
        yield _refused(services, in_use, TEXT.like(str(error), like) if like else str(error))
    except Exception:
        log.exception("a model could not be loaded")
        yield [name_of(in_use), in_use, TEXT.status(OUR_FAULT, "notice") + _status(services, in_use)]


def _refused(services: Services, in_use: str, reason: str) -> list[Any]:
    """The model in use, and the reason why it is not the requested one; the default where the first is gone."""
    try:
        spec = services.store.spec(in_use)
    except UserError:
        in_use, spec = services.default_model, services.store.spec(services.default_model)
    message = TEXT.refused(reason, spec)
    return [name_of(in_use), in_use, TEXT.status(message, "notice") + _status(services, in_use)]


def _menu(services: Services, reader: str, in_use: str = "") -> list[tuple[str, str]]:
    """(title, what a link calls it) of a room's run in use, the reader's own runs, and the catalogue's models."""
    catalogue = ((spec.title, key) for key, spec in services.store.catalogue.items())
    return [*services.own_models.menu(reader, in_use), *catalogue]


def _status(services: Services, key: str) -> Markup:
    return TEXT.in_use(services.store.spec(key), services.store.named is not None, bool(services.own_run(key)))


def _is_picker(block: Any) -> bool:
    return isinstance(block, gr.File) and PICKER in (block.elem_classes or ())


def lesson_heading(lesson: Lesson) -> Markup:
    """A lesson's title, a question, and its two sentences on what to look at."""
    return TEXT.heading(lesson.question, with_terms(lesson.look, lesson.slug))


def lesson_links(lesson: Lesson, lessons: Sequence[Lesson]) -> gr.HTML:
    """The row of links to all lessons, of which `lesson` is open; at its end the page's looks and the finder."""
    row = TEXT.lesson_links(lesson, lessons)
    return gr.HTML(row, js_on_load=f"{SHOW_LESSON}\n{SWITCHES}", elem_id="lesson-links")

"""The contract between a lesson and the page: what a lesson is, and what it is handed while it builds itself.

A lesson is a folder in demos/lessons/ that says `LESSON = Lesson(...)`, and each of its parts a folder in that one. A
`build` runs inside its own page, makes its components and says with `page.draw` what fills them; the page does the rest
(title, notices, link, refreshing).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import gradio as gr

from demos.page.batch import DRAW_LIMIT, DRAWN, Drawing, Redraw, ended_by, hear, wire_batch
from demos.page.batch import IN_BROWSER as IN_BROWSER  # the settings of what the browser does alone
from demos.page.drawing.drawn import adapted, as_sent
from demos.page.guards import PICTURES, dimmed, guarded, pictures, with_api_errors
from demos.page.layer_head_choices import by_index
from demos.page.links import Link, Offer, schema
from demos.page.services import Sentence, Services


class Drawable(Protocol):
    """The interface by which any view (demos/page/view.py) is built and drawn."""

    @property
    def Choices(self) -> Any: ...  # noqa: N802

    def build(self, page: Page) -> None: ...

    def read(self, on: Any, said: Mapping[str, Any]) -> Any: ...

    def shown(self, services: Services, sentence: Sentence, **said: Any) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Part:
    """A tab on a lesson's page (demos/page/parts.py); it computes only while it is open.

    It is the view in the part.py of its folder, and the folder's name is its name in the link.
    """

    tab: str
    look: str  # the instruction what to look at, in two sentences at most
    view: Drawable
    order: int  # among its lesson's parts
    former: str = ""  # its name in links of earlier versions
    reads_sentence: bool = True  # else the bar's steps back while the part is open
    only_bert: bool = False  # shows BERT's own arithmetic, so that other architectures are refused
    slug: str = ""  # in the link: /lesson?part=slug; `parts_of` fills it in
    # One HTML file that shows the part's picture alone, of the sentence and the choices that a link may say
    standalone: Callable[[Services, Sentence, Mapping[str, Any]], str] | None = None


@dataclass(frozen=True)
class Lesson:
    """One page. `order` and `tab` are the place and the name of the links to it.

    `question` is its title, and `look` says in two sentences what to look at. `build` lays it out; a long lesson has
    `parts` under that (demos/page/parts.py), or is one `view`.
    """

    slug: str  # in the link: /slug, and / for the first
    order: int
    tab: str
    question: str
    look: str
    build: Callable[[Page], None] | None = None
    parts: tuple[Part, ...] = ()
    view: Drawable | None = None
    only_bert: bool = False  # as a part's, for all of them

    @property
    def tabs(self) -> dict[str, str]:
        """The name of each part's tab by the part's, in their order; of a lesson without parts, its own by ""."""
        return {part.slug: part.tab for part in self.parts} or {"": self.tab}


LIMITS = "limits"  # the class of the boxes that say how far controls go (demos/page/limits.js)


@dataclass
class Page:
    """The argument of `Lesson.build`: the bar's components, the services, and the methods that wire a lesson."""

    lesson: Lesson
    services: Services
    text: gr.Textbox
    text_pair: gr.Textbox
    model: gr.Component  # holds the key of the model in use, which is loaded
    settled: gr.Component  # changes when this lesson should redraw: opened, or the bar rested for 200 ms
    typed: gr.Component  # changes at once while someone types, for what is quicker than a model
    notices: gr.Column  # where this lesson's sentences about bad input go, one slot a handler
    trained: gr.State  # the id of the model this reader has fine-tuned in the page; empty before
    choices: dict[str, gr.Component] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)  # a choice's rules in a link, beyond its component's
    history: gr.State = field(default_factory=lambda: gr.State([]))  # this reader's trainings, newest last
    reader: gr.Component = field(default_factory=lambda: gr.Textbox("", visible="hidden"))  # checked_key
    returning: gr.Component = field(default_factory=lambda: gr.Textbox("", visible="hidden"))  # once they have trained
    shared: list[gr.Component] = field(default_factory=list)  # the choices that a lesson's parts have in common
    opening: list[gr.Component] = field(default_factory=list)  # the ticks that draw what the page shows first
    drawings: list[Drawing] = field(default_factory=list)  # of what it shows first
    slots: list[tuple[set[str], gr.HTML]] = field(default_factory=list)  # each handler's outputs, and its notice
    redrawn: list[Redraw] = field(default_factory=list)  # all that a sentence or a choice draws, of all parts
    look: gr.HTML | None = None  # an open part's sentence on what to look at, not rendered yet
    redraws: list[Redraw] | None = field(default_factory=list)  # what `settled` draws, in one event (`wire_redraws`)
    reads_sentence: bool = True  # its outputs of `Page.draw`; another sentence is no reason to draw others again

    @property
    def sentence(self) -> list[gr.Component]:
        """The bar's three inputs, which arrive in a handler of `draw` as one `Sentence`."""
        return [self.text, self.text_pair, self.model]

    def show_look(self) -> None:
        """Put the part's sentence on what to look at here; where no part does, it is above its picture."""
        if self.look is not None:
            self.look.render()

    def keep(self, **choices: gr.Component) -> None:
        """Let these choices travel in the link while this lesson is open, as `?name=value`.

        Lessons may use the same name, parts of one lesson may not; `text`, `pair`, `model`, `lesson` and `cut` are the
        bar's own. Raises ValueError where another choice of the lesson has the name.
        """
        if twice := sorted(self.choices.keys() & choices.keys()):
            raise ValueError(f"Two choices of the lesson “{self.lesson.slug}” have one name in the link: {twice}")
        self.choices |= choices

    def schema(self) -> dict[str, Offer]:
        """The rules of each choice in a link."""
        return schema(self.choices, self.links)

    def share(self, **choices: gr.Component) -> None:
        """`keep` choices that are above a lesson's parts. Only the open part redraws when one of them moves.

        A part finds them in `page.choices` and names them among the inputs of its `draw`.
        """
        self.keep(**choices)
        self.shared += choices.values()

    def draw(
        self,
        show: Callable[..., Mapping[gr.Component, Any] | Iterator[Mapping[gr.Component, Any]]],
        inputs: Sequence[gr.Component],
        outputs: Sequence[gr.Component],
        *,
        triggers: Sequence[Any] = (),
        at_once: bool = False,
        pure: bool = True,
        for_all: bool | None = None,
        own_text: gr.Component | None = None,
        **options: Any,
    ) -> None:
        """Fill `outputs` with `show(sentence, *inputs)`, {component: value}, when the lesson opens or the bar changes.

        It does so at `triggers`, too. `at_once` draws on each key press (for what needs no forward pass), else 200 ms
        after the last one. A UserError becomes the lesson's notice; the outputs stay, dimmed. The same sentence and
        inputs are drawn once for all readers, unless `show` is a generator, gets something of this reader alone, or is
        not `pure`: its answer depends on more than these. The page's first view is sent with the page; that of a
        generator only with `for_all`. Where the page reads no sentence, or `own_text` holds one that is read instead,
        it is not drawn for another.

        The content of a shut fold is drawn when that is opened, and redrawn while it is open; of a generator its last
        values alone, unless nothing else is drawn. `show` may return for it, as for any output, a function of no
        arguments, which is called only when its value is needed.
        """
        tick = self.typed if at_once else self.settled
        own_alone = [at for at, component in enumerate(inputs) if isinstance(component, gr.State | gr.File)]
        in_steps = inspect.isgeneratorfunction(show)
        by_reader = any(component is self.reader for component in inputs)
        reads_sentence = self.reads_sentence and own_text is None
        folds = by_fold(outputs)
        for fold, wanted in folds.items():
            answer = _for_outputs(show, wanted, only_last=in_steps and fold is not None and len(folds) > 1)
            if pure and not in_steps and not by_reader:
                answer = _for_all(answer, self.services.drawings.remembered(answer), own_alone)
            self.on(
                [tick.change, *triggers],
                answer,
                inputs,
                wanted,
                of_sentence=True,
                for_all=not in_steps and not by_reader if for_all is None else for_all,
                fold=fold,
                unread=() if reads_sentence else (self.text, self.text_pair),
                own_text=own_text,
                trigger_mode="always_last",
                **options,
            )

    def on(
        self,
        triggers: Sequence[Any],
        handler: Callable[..., Any],
        inputs: Sequence[gr.Component],
        outputs: Sequence[gr.Component] | Mapping[str, gr.Component],
        *,
        of_sentence: bool = False,
        for_all: bool = False,
        fold: gr.Accordion | None = None,
        unread: Sequence[gr.Component] = (),
        own_text: gr.Component | None = None,
        gate: str = "",
        cancel: gr.Button | None = None,
        **options: Any,
    ) -> Any:
        """Wire any event; like gr.on, but private to the page, bounded, and with UserErrors shown as the notice.

        A handler returns one value for one output, {component: value} for those of several that change, or a sequence
        for all of them; or it yields any of these. Where the outputs have names, it returns {name: value}. With
        `of_sentence` its first argument is the bar's `Sentence`. Where it fails, its outputs are dimmed until its
        next good answer, or that of a handler wired later with the same outputs. Its drawing `for_all`
        readers may be sent with the page (demos/page/delivery/first_views.py). `gate` is JavaScript that throws
        where no request is needed. `cancel` is a button that ends the answer to what is redrawn. Where the sentence is
        no input, or `unread`, `settled` calls only when another input has changed; or while the box `own_text` is
        empty. A choice made while the answer to an earlier one is awaited is sent after it; Gradio would drop it, as it
        drops a button's second press.
        """
        if isinstance(outputs, Mapping):
            handler, outputs = by_name(handler, outputs), list(outputs.values())
        if of_sentence:
            handler, inputs = with_sentence(handler), [*self.sentence, *inputs]
        options = DRAWN | options
        if any(event.event_name == "input" for event in triggers):
            options = {"trigger_mode": "always_last"} | options
        with fold or self.notices:  # a separate slot: another handler's success must not wipe this one's sentence
            notice = gr.HTML("", elem_classes="lesson-notice")
        if fold:
            fold.children.insert(0, fold.children.pop())
        drawn = pictures(outputs)
        overtaken = [other for shown, other in self.slots if shown and shown <= set(drawn)]
        self.slots.append((set(drawn), notice))
        shown = [*outputs, notice, *overtaken]
        answers = by_index(guarded(handler, outputs, dimmed(drawn), len(overtaken)), inputs)
        call = (adapted(answers, sent=lambda answer: as_sent(answer, shown)), list(inputs), shown)
        options = {"postprocess": False, "api_visibility": "private"} | options
        if gate:
            step = gr.on(list(triggers), None, None, None, js=f"() => {gate}", **IN_BROWSER)
            return step.then(*call, **options)
        if options.get("trigger_mode") != "always_last":
            return gr.on(list(triggers), *call, **options)
        ticks = [tick for tick in (self.settled, self.typed) if any(event.__self__ is tick for event in triggers)]
        in_sight = options["show_progress"] != "hidden"
        read = [component for component in inputs if component not in unread]
        read = [] if self.text in read else read
        redraw = Redraw(
            *(notice, answers, list(inputs), shown, ticks, list(triggers), for_all, in_sight, fold, read, own_text),
            queue=(options["concurrency_id"], options["concurrency_limit"]),
            cancel=cancel,
        )
        self.redrawn.append(redraw)
        if self.redraws is not None and ticks == [self.settled]:
            self.redraws.append(redraw)
            return None
        # Gradio repeats a postponed "always_last" by sending its event again, to all listeners: two such handlers of
        # one event would wake each other for ever. So each hears it through a separate step.
        heard = [*triggers, *([fold.expand] if fold else [])]
        event = hear([redraw], heard, str(notice._id)).then(*call, **options)
        ended_by(cancel, event)
        self._drawn_first(ticks, Drawing(event["id"], list(inputs), [redraw]))
        return event

    def wire_redraws(self) -> None:
        """Wire, in one event a queue, what was said to be drawn at this page's `settled`; when all of it is said."""
        redraws, self.redraws = self.redraws or [], None
        for queue in dict.fromkeys(redraw.queue for redraw in redraws):
            batch = [redraw for redraw in redraws if redraw.queue == queue]
            self._drawn_first([self.settled], wire_batch(batch, self.settled))

    def _drawn_first(self, ticks: Sequence[gr.Component], drawing: Drawing) -> None:
        redraws = [redraw for redraw in drawing.redraws if redraw.for_all and redraw.fold is None]
        if redraws and any(tick is first for tick in ticks for first in self.opening):
            self.drawings.append(replace(drawing, redraws=redraws))

    def forget(self, outputs: Sequence[gr.Component], triggers: Sequence[Any] | None = None) -> None:
        """Empty what was about another sentence, when this lesson redraws or at `triggers`; in the browser alone."""
        gr.on(
            [self.settled.change] if triggers is None else list(triggers),
            None,
            None,
            list(outputs),
            js=f"() => {json.dumps([''] * len(outputs))}",
            **IN_BROWSER,
        )

    def endpoint(self, function: Callable[..., Any], **options: Any) -> None:
        """Offer a typed function under its own name in the API; a UserError reaches the caller as its sentence."""
        options = {"concurrency_id": "draw", "concurrency_limit": DRAW_LIMIT} | options
        gr.api(with_api_errors(function), api_name=function.__name__, **options)


def by_fold(outputs: Sequence[gr.Component]) -> dict[gr.Accordion | None, list[gr.Component]]:
    """The outputs by the shut fold in which they are read; None for those in sight, and for controls.

    The box with the bounds of controls is filled with the content of its fold.
    """
    within: dict[gr.Accordion | None, list[gr.Component]] = {}
    for output in outputs:
        is_read = isinstance(output, PICTURES) or LIMITS in (output.elem_classes or ())
        within.setdefault(shut_fold(output) if is_read else None, []).append(output)
    return within


def shut_fold(component: gr.blocks.Block) -> gr.Accordion | None:
    """The innermost shut fold in which a component lies."""
    block = component.parent
    while block is not None and not (isinstance(block, gr.Accordion) and not block.open):
        block = block.parent
    return block


def _for_outputs(show: Callable[..., Any], wanted: Sequence[gr.Component], only_last: bool) -> Callable[..., Any]:
    """`show` for some of its outputs: {component: value} of those that it changes."""

    def those(changed: dict[gr.Component, Any]) -> dict[gr.Component, Any]:
        return {output: changed[output] for output in wanted if output in changed}

    def last(*inputs: Any) -> dict[gr.Component, Any]:
        *_, changed = show(*inputs)
        return those(changed)

    return last if only_last else adapted(show, sent=those)


def _for_all(show: Callable[..., Any], recall: Callable[..., Any], own: Sequence[int]) -> Callable[..., Any]:
    """`recall`, but `show` itself where an input at one of the places `own`, which one reader has, is not empty."""
    return lambda sentence, *inputs: (show if any(inputs[at] for at in own) else recall)(sentence, *inputs)


def with_sentence(show: Callable[..., Any]) -> Callable[..., Any]:
    """`show(sentence, ...)` as a handler of `Page.sentence`'s three inputs."""

    def given(text: str | None, pair: str | None, model: str, *rest: Any) -> list[Any]:
        return [Sentence(text or "", pair or "", model), *rest]

    return adapted(show, given=given)


def by_name(handler: Callable[..., Any], outputs: Mapping[str, gr.Component]) -> Callable[..., Any]:
    """A handler that returns (or yields) what changes by its output's name: by component."""
    return adapted(handler, sent=lambda values: {outputs[name]: value for name, value in values.items()})


def moved_by_reader(component: gr.Component) -> Any:
    """The event of a person changing this component (not of a program), where it has one that misses nothing."""
    if isinstance(component, gr.Textbox) or not hasattr(component, "input") or component.visible == "hidden":
        return component.change  # Textbox.input misses paste, cut and undo; a hidden one is moved by its picture
    return component.input

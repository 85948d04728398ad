"""A view is a value: its choices are the fields of one dataclass, and it is drawn by a plain call.

    class Lengths(View):
        tab, order, look = "Lengths", 9, "Which vectors are the longest?"

        @dataclass(frozen=True)
        class Choices(OfToken):                       # the choices above the lesson's parts: the token
            padding: bool = switch("With padding")    # the link's name, the control, its bounds, what `draw` is given

        def lay_out(self, at: Layout) -> None:        # the layout
            at.plot("picture", "Length of each token's vector")
            at.control("padding")
            at.folds("Prints them")

        def draw(self, on: On, c: Choices) -> Shown:  # the values of what `lay_out` named
            return {"picture": ..., "numbers": lambda: ..., "program": lambda: ...}

A value that is a function is called only where its fold is open. Outputs that need fewer choices than the rest have a
separate method, marked by `drawn`; a slow method is a generator, whose first values show the progress. The server sets
no control: it sends the browser a control's bound for this sentence and model (`Control.last`), or a menu's options
(`limit`), and the browser moves values beyond them (limits.js).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import gradio as gr

from demos.bert.attention.contributions import CONTRIBUTION, WEIGHT
from demos.bert.model.encoding import Encoding, encode_lately
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run
from demos.counting import counted
from demos.page.drawing.drawn import Update as Update
from demos.page.drawing.drawn import adapted, answers_of
from demos.page.folds import all_controls, folds
from demos.page.guards import cut_html
from demos.page.layer_head_choices import clamp, counted_slider, is_counted, measure_choice, moving_slider
from demos.page.lesson import IN_BROWSER, LIMITS, Page, Part, by_fold, moved_by_reader
from demos.page.links import Link
from demos.page.progress import HEAVY
from demos.page.services import Sentence, Services

CONTROL = "control"  # a field's metadata
Shown = dict[str, Any]  # the values of a view's outputs by name
CUT = "encodings"  # among these, the encodings that were read, where they are not the sentence's alone


@dataclass(frozen=True)
class On:
    """The data that a view is drawn from: the sentence and the model's run of it. UserError where that fails."""

    services: Services
    sentence: Sentence

    @cached_property
    def loaded(self) -> LoadedModel:
        return self.services.loaded(self.sentence.model)

    @cached_property
    def run(self) -> Run:
        return self.services.run(self.sentence)

    @cached_property
    def encoding(self) -> Encoding:
        """Of the run, without which it costs no forward pass."""
        return encode_lately(self.loaded.tokenizer, self.sentence.text, self.sentence.text_pair)


@dataclass(frozen=True)
class Control:
    """A choice: its component, and its value as `draw` takes it."""

    make: Callable[[Services], gr.Component]
    read: Callable[[On, Any], Any]  # of what the browser holds; a value out of bounds becomes one within
    last: Callable[[On, Any], int] | None = None  # its last value, where sentence, model or other choices decide
    by_script: bool = False  # a picture or a button moves it too
    in_link: bool = True
    redraws: bool = True  # whether its move is a reason to draw
    link: Link = field(default_factory=Link)  # its rules in a link, beside its value


def switch(label: str, value: bool = False, *, by_script: bool = False, **look: Any) -> Any:
    """A choice of yes or no."""

    def make(_: Services) -> gr.Component:
        return gr.Checkbox(value, label=label, **look)

    return choice(value, Control(make, lambda _, said: bool(said), by_script=by_script))


def slider(
    least: float, most: float, value: float, label: str, *, step: float = 1,
    last: Callable[[On, Any], int] | None = None, by_script: bool = False, **look: Any,
) -> Any:  # fmt: skip
    """A choice of a number from `least` to `most`; `last` may end it sooner, which `draw` sees to itself.

    With a whole `step` it is a whole number.
    """

    def read(_: On, said: Any) -> float:
        inside = min(max(float(value if said is None else said), least), most)
        steps = int((inside - least) / step + 1e-6)
        return round(least + steps * step, 6)

    def make(_: Services) -> gr.Component:
        return gr.Slider(least, most, value, step=step, label=label, **look)

    return choice(value, Control(make, read, last, by_script))


def place(
    count: Callable[[On], int], most: Callable[[Services], int], value: int, label: str, *, by_script: bool = False,
    **look: Any,
) -> Any:  # fmt: skip
    """A choice among `count` things, of which there are at most `most`, by their place from 0."""

    def make(services: Services) -> gr.Component:
        return moving_slider(0, most(services) - 1, value, label=label, **look)

    return choice(value, Control(make, lambda on, said: clamp(said, count(on)), lambda on, _: count(on) - 1, by_script))


def of_model(count: str, value: int, label: str, **look: Any) -> Any:
    """A choice of a layer ("num_layers") or a head ("num_heads"): an index, which page and link count from 1."""

    def make(services: Services) -> gr.Component:
        most = max(getattr(spec, count) for spec in services.store.catalogue.values())
        return counted_slider(most, value, label=label, **look)

    def last(on: On, _: Any = None) -> int:
        return int(getattr(on.loaded.spec, count)) - 1

    return choice(value, Control(make, lambda on, said: clamp(said, last(on) + 1), last))


def options(
    offers: Sequence[tuple[str, Any]], value: Any, label: str, *, by_script: bool = False, kind: Any = gr.Radio,
    **look: Any,
) -> Any:  # fmt: skip
    """A choice of one of a few, (shown, value); any other value becomes `value`."""
    known = {offered for _, offered in offers}

    def make(_: Services) -> gr.Component:
        return kind(list(offers), value=value, label=label, **look)

    return choice(value, Control(make, lambda _, said: said if said in known else value, by_script=by_script))


def menu(offers: Sequence[tuple[str, Any]], value: Any, label: str, **look: Any) -> Any:
    """`options` as a menu."""
    return options(offers, value, label, kind=gr.Dropdown, **{"filterable": False} | look)


def measure(shown: str, elem_id: str) -> Any:
    """A choice of attention by weight, or by contribution; `shown` says what is seen of the norms."""

    def read(_: On, said: Any) -> str:
        return CONTRIBUTION if said == CONTRIBUTION else WEIGHT

    return choice(WEIGHT, Control(lambda _: measure_choice(shown, elem_id), read))


def open_menu(offers: Sequence[tuple[str, Any]], value: str, label: str, **look: Any) -> Any:
    """A menu of texts whose offers the sentence, the model or other choices decide; a link may say any text.

    `draw` reads what is said, and answers with `limit(choices=..., value=...)` under the choice's name.
    """

    def make(_: Services) -> gr.Component:
        made = gr.Dropdown(list(offers), value=value, label=label, **look)
        made.allow_custom_value = True  # as an option it would let a reader type, whatever `look` says
        return made

    return choice(value, Control(make, lambda _, said: "" if said is None else str(said)))


def index(value: int, count: int) -> Any:
    """A hidden choice of one of `count` things, by its place from 0; a picture or a button moves it."""

    def make(_: Services) -> gr.Component:
        return gr.Number(value, precision=0, visible="hidden")

    return choice(value, Control(make, lambda _, said: clamp(said, count), by_script=True))


def unlinked(value: Any, *, redraws: bool = False, by_script: bool = False) -> Any:
    """A value that `draw` reads beside the choices and that is in no link: a component that `Layout.hold` names."""
    control = Control(
        lambda _: gr.State(value), lambda _, said: said, by_script=by_script, in_link=False, redraws=redraws
    )
    return choice(value, control)


def words(value: str, label: str, **look: Any) -> Any:
    """A text that a reader types."""
    return choice(value, Control(lambda _: gr.Textbox(value, label=label, **look), lambda _, said: said or ""))


def choice(value: Any, control: Control) -> Any:
    """A field of a view's choices; `value` is what it begins with."""
    return field(default=value, metadata={CONTROL: control})


def linked(made: Any, link: Link) -> Any:
    """The same field; of this choice a link may say more (demos/page/links.py)."""
    return choice(made.default, replace(made.metadata[CONTROL], link=link))


@dataclass(frozen=True)
class NoChoices:
    """The choices of a view that has none."""


def controls_of(choices: Any) -> dict[str, Control]:
    """The controls of a dataclass of choices, by name."""
    return {known.name: known.metadata[CONTROL] for known in fields(choices)}


def read_choices(choices: Any, on: On, said: Mapping[str, Any]) -> Any:
    """A value of the dataclass `choices`: some are `said`, by name, as a browser holds them; the others begin so."""
    begin = {known.name: known.default for known in fields(choices)}
    controls = controls_of(choices)
    return choices(**{name: controls[name].read(on, value) for name, value in (begin | dict(said)).items()})


def limit(**update: Any) -> Update:
    """An answer of `draw` for a choice, in its own numbers: `choices` (shown, value), `maximum`, `visible`, `label`.

    `value` is its new value, if the reader has not moved it since.
    """
    return update


class Limits:
    """The bounds of controls for this sentence and model: a hidden box that the server fills and the browser reads.

    The box is in `fold`, and is filled only while that is open.
    """

    def __init__(
        self,
        components: Mapping[str, gr.Component],
        controls: Mapping[str, Control],
        fold: gr.Accordion | None = None,
    ) -> None:
        self.ends = {name: control.last for name, control in controls.items() if control.last and name in components}
        self.components = dict(components)
        self.outputs: list[gr.Component] = []  # the box, where something may be limited
        if self.components:
            with fold or nullcontext():
                box = gr.Textbox("", visible="hidden", elem_classes=LIMITS)
            self.outputs.append(box)
            limited = list(self.components.values())
            names = json.dumps([list(self.components), [component._id for component in limited]])
            script = f"(said, ...values) => insideBert.limits.apply({names}, said, ...values)"
            box.change(None, [box, *limited], [box, *limited], js=script, **IN_BROWSER)

    def answer(
        self, on: On, c: Any, said: Mapping[str, Any], drawn: Mapping[str, Mapping[str, Any]] | None = None
    ) -> dict[gr.Component, str]:
        """The box's content: {component: its update, and the value `said`}, in the numbers that are shown.

        The browser sets a value only if that is still the control's value: an answer may come after a newer choice.
        """
        seen: dict[int, Update] = {}
        updates = {name: limit(maximum=last_of(on, c)) for name, last_of in self.ends.items()}
        for name, own in (drawn or {}).items():
            updates[name] = {**updates.get(name, {}), **own}
        for name, update in updates.items():
            up = counted if is_counted(self.components[name]) else lambda value: value
            value, maximum = said.get(name), update.get("maximum")
            becomes = update.get("value", getattr(c, name))
            if maximum is not None:
                becomes, value = min(becomes, maximum), None if value is None else int(value)
                update = {**update, "maximum": up(maximum)}
            values = [None if number is None else up(number) for number in (value, becomes)]
            seen[self.components[name]._id] = {**update, "said": values[0], "value": values[1]}
        return {box: json.dumps(seen) for box in self.outputs if seen}


class Drawing(NamedTuple):
    """A method of a view, and its outputs."""

    method: Callable[[On, Any], Any]  # Shown, or a generator of such
    outputs: Sequence[str] = ()  # (): those that no other method draws
    by: Sequence[str] = ()  # the choices that it reads
    limits: Sequence[str] = ()  # those that it answers for with `limit`
    own_text: str = ""  # the choice that is read instead of the sentence, unless it is empty
    cancel: str = ""  # the output that is the button which ends it
    reads_sentence: bool | None = None  # False: the model alone; None: as its part does
    options: Mapping[str, Any] = {}  # of `Page.draw`


def drawn(
    *outputs: str,
    by: Sequence[str] | None = None,
    limits: Sequence[str] = (),
    own_text: str = "",
    cancel: str = "",
    reads_sentence: bool | None = None,
    **options: Any,
) -> Callable[[Any], Any]:
    """Mark a method of a view that draws some `outputs` (none: the rest) and reads the choices `by` (None: all).

    `limits` are choices that it answers for with `limit`. `own_text` is the choice that is read instead of the
    sentence unless it is empty. `reads_sentence` says whether another sentence is a reason to draw; None: as its part.
    `cancel` is a button among the outputs that ends a drawing in steps. The rest are options of `Page.draw` (of a
    generator, of `Page.on`): pure=False where it leaves out what the browser has.
    """

    def mark(method: Any) -> Any:
        named = {} if by is None else {"by": by}
        method.drawing = {**named, "outputs": outputs, "limits": limits, "own_text": own_text, "cancel": cancel}
        method.drawing |= {"reads_sentence": reads_sentence, "options": options}
        return method

    return mark


class Layout(dict[str, gr.Component]):
    """A view while it is laid out: its outputs by name, and what it puts beside them."""

    def __init__(self, view: View, page: Page) -> None:
        super().__init__()
        self.page, self.view, self._file = page, view, inspect.getfile(type(view))
        self.controls: dict[str, gr.Component] = {}  # of the view's own choices

    def control(self, name: str) -> gr.Component:
        """The control of a choice, which is kept in the link, goes here."""
        control = controls_of(self.view.Choices)[name]
        made = control.make(self.page.services)
        self.page.keep(**{name: made})
        self.page.links[name] = control.link
        self.controls[name] = made
        return made

    def plot(self, name: str, label: str, **look: Any) -> None:
        """The output `name` is a plot; its label is read aloud, and not shown."""
        self[name] = gr.Plot(label=label, show_label=False, **look)

    def hold(self, name: str, component: gr.Component | None = None) -> gr.Component:
        """The component of a value that `draw` reads and no link has (`unlinked`): one of the page, or a new one.

        The view's methods may fill it as an output of the same name.
        """
        self.controls[name] = component or controls_of(self.view.Choices)[name].make(self.page.services)
        return self.controls[name]

    def asking(self, answer: Callable[[On, Any], Any]) -> tuple[Callable[..., Any], list[gr.Component]]:
        """A handler of the sentence and of what the controls so far hold, for a button; and these controls."""
        names, services, view = list(self.controls), self.page.services, self.view

        def given(sentence: Sentence, *said: Any) -> tuple[On, Any]:
            on = On(services, sentence)
            return on, view.read(on, dict(zip(names, said, strict=True)))

        return adapted(answer, given=given), [self.controls[name] for name in names]

    def answers(
        self, trigger: Any, answer: Callable[[On, Any], Any], outputs: Mapping[str, gr.Component], **options: Any
    ) -> Any:
        """Have `asking(answer)` fill some of `outputs`, by name, at an event (a button's, say) or several."""
        triggers = trigger if isinstance(trigger, list) else [trigger]
        return self.page.on(triggers, *self.asking(answer), outputs, of_sentence=True, **options)

    def all_controls(self, *, set_elsewhere: bool = False) -> AbstractContextManager[None]:
        """The fold for what is seldom moved (`demos.page.folds.all_controls`)."""
        return all_controls(self.page, self._file, set_elsewhere=set_elsewhere)

    def look(self) -> None:
        """The view's sentence on what to look at goes here; else it is below its picture."""
        self.page.show_look()

    def folds(self, prints: str = "", numbers: Sequence[str] = ("numbers",)) -> None:
        """The folds that a part ends in: `numbers` and "program" are outputs, formula.md and sources.md texts."""
        self.update(folds(self._file, prints, numbers))


class View:
    """A part of a lesson, as this file's head shows it."""

    tab: ClassVar[str]
    order: ClassVar[int]
    look: ClassVar[str]
    former: ClassVar[str] = ""
    reads_sentence: ClassVar[bool] = True
    only_bert: ClassVar[bool] = False
    Choices: ClassVar[Any] = NoChoices

    def lay_out(self, at: Layout) -> None:
        """Make the outputs, the controls and the components around them."""
        raise NotImplementedError

    def draw(self, on: On, c: Any) -> Shown | Generator[Shown]:
        """The outputs by name; those of methods that are marked by `drawn` are left out."""
        raise NotImplementedError

    @classmethod
    def part(cls) -> Part:
        """The view as a part of its lesson (demos/page/parts.py)."""
        view = cls()
        return Part(
            tab=cls.tab,
            look=cls.look,
            view=view,
            order=cls.order,
            former=cls.former,
            reads_sentence=cls.reads_sentence,
            only_bert=cls.only_bert,
        )

    def shown(self, services: Services, sentence: Sentence, **said: Any) -> Shown:
        """All outputs by name, for choices as a browser holds them; a value may be a function that is called for it.

        Of a generator its last values. Raises ValueError where a choice is answered for that is not named in `limits`.
        """
        on = On(services, sentence)
        c = self.read(on, said)
        linked = {name for name, control in controls_of(self.Choices).items() if control.in_link}
        shown: Shown = {}
        for drawing in self.drawings():
            *_, values = answers_of(drawing.method, on, c)
            if lost := sorted(values.keys() & linked - {*drawing.limits}):
                raise ValueError(f"{type(self).__name__}: not among the drawing's limits: {lost}")
            shown |= values
        return shown

    def read(self, on: On, said: Mapping[str, Any]) -> Any:
        """The view's choices, as `read_choices` reads them."""
        return read_choices(self.Choices, on, said)

    def drawings(self) -> list[Drawing]:
        """Its methods that draw, `draw` first."""
        names = [name for name in dir(type(self)) if hasattr(getattr(type(self), name), "drawing") and name != "draw"]
        methods, every = (self.draw, *(getattr(self, name) for name in names)), {"by": tuple(controls_of(self.Choices))}
        return [Drawing(method, **every | getattr(method, "drawing", {})) for method in methods]

    def build(self, page: Page) -> None:
        """Lay the view out and wire it: each method that draws is called when a choice that it reads has moved.

        Raises ValueError where a choice has no control, or a method names what is not there.
        """
        at = Layout(self, page)
        self.lay_out(at)
        controls, drawings = controls_of(self.Choices), self.drawings()
        shared = {name: made for name, made in page.choices.items() if any(made is choice for choice in page.shared)}
        boxes = shared | at.controls
        elsewhere = [name for drawing in drawings for name in drawing.outputs]
        read = {name for drawing in drawings for name in drawing.by}
        if lost := sorted(controls.keys() - boxes.keys() | set(elsewhere) - at.keys() | read - controls.keys()):
            raise ValueError(f"{type(self).__name__}: not laid out, or no choice: {lost}")
        for drawing in drawings:
            rest = not drawing.outputs
            outputs = {name: at[name] for name in drawing.outputs or (name for name in at if name not in elsewhere)}
            folds = by_fold(list(outputs.values()))
            limited = {*drawing.limits, *(name for name, control in controls.items() if rest and control.last)}
            limits = Limits(
                {name: made for name, made in at.controls.items() if name in limited},
                controls,
                next(iter(folds)) if len(folds) == 1 else None,
            )
            own = [(boxes[name], controls[name]) for name in drawing.by if name in at.controls]
            triggers = [box.change if by.by_script else moved_by_reader(box) for box, by in own if by.redraws]
            options = {"own_text": boxes[drawing.own_text]} if drawing.own_text else {}
            options |= {"cancel": at[drawing.cancel]} if drawing.cancel else {}
            reads = page.reads_sentence if drawing.reads_sentence is None else drawing.reads_sentence
            queue = HEAVY if inspect.isgeneratorfunction(drawing.method) else {}
            if rest and None in folds:
                with page.notices:
                    outputs[CUT] = gr.HTML("", elem_classes="cut-line")  # below the sentences on bad input
            replace(page, reads_sentence=reads).draw(
                self._answer(page.services, drawing, outputs, limits),
                [boxes[name] for name in drawing.by],
                [*outputs.values(), *limits.outputs],
                triggers=triggers,
                **{"show_progress": "hidden", **queue, **drawing.options, **options},
            )

    def _answer(
        self, services: Services, drawing: Drawing, outputs: Mapping[str, gr.Component], limits: Limits
    ) -> Callable[..., Any]:
        """The handler of a drawing: of the sentence, and of the choices as the browser holds them."""

        def steps(sentence: Sentence, *said: Any) -> Generator[dict[gr.Component, Any]]:
            on, chosen = On(services, sentence), dict(zip(drawing.by, said, strict=True))
            c = self.read(on, chosen)
            with closing(answers_of(drawing.method, on, c)) as each:
                for shown in each:
                    read = [on.encoding] if {"run", "encoding"} & vars(on).keys() else []
                    cut = {CUT: cut_html(shown.get(CUT, read))} if CUT in outputs else {}
                    limited = {name: value for name, value in shown.items() if name in drawing.limits}
                    ends = limits.answer(on, c, chosen, limited)
                    yield {outputs[name]: value for name, value in (shown | cut).items() if name not in limited} | ends

        return steps if inspect.isgeneratorfunction(drawing.method) else lambda *inputs: next(steps(*inputs))

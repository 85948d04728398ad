"""The attention of one model after another in bertviz: an encoder's, a decoder's, and both with cross-attention."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.family.attentions import Reading, of_one_stack, of_our_decoder, of_our_translator
from demos.bert.family.members import AGREEMENT, MEMBERS, OUR_DECODER, TRANSLATOR, Member
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.text import clean_text
from demos.bert.translation.transformer_places import CROSS, DECODER, ENCODER
from demos.errors import UserError
from demos.figures.matrix import matrix_table
from demos.lessons.family.attention.figure import caption_html, instead_html, said_html
from demos.lessons.family.attention.program import attention_code
from demos.page.folds import all_controls, folds
from demos.page.layer_head_choices import clamp, counted_slider, slider
from demos.page.lesson import IN_BROWSER, Page, Part, by_component
from demos.page.loading.loading import AT_ONCE, loading
from demos.page.services import Services
from demos.widgets.bertviz.frame import bertviz_frame, frame_value, lines_buttons
from demos.widgets.bertviz.messages import BrowserCache
from demos.widgets.bertviz.two_texts import two_texts_message
from demos.widgets.bertviz.views import VIEWS, heads_on, lines_said

TITLES = {ENCODER: "Encoder", DECODER: "Decoder (masked)", CROSS: "Cross-attention"}
EXAMPLES = {member.example for member in MEMBERS.values()}
OPENED = 1  # the layer, from 0
FILLED = ("member", "frame", "held", "layer", "head", "lines", "kind", "source", "target", "said", "caption", "numbers",
          "program")  # fmt: skip


def build(page: Page) -> None:
    """The lines beside the model and its texts; the folds."""
    parts: dict[str, Any] = {name: gr.Textbox("", visible="hidden") for name in ("held", "lines")}
    parts["lines"].value = "all"
    with gr.Row(elem_classes="family-attention-views"):
        with gr.Column(scale=6, min_width=320, elem_id="family-attention-frame", elem_classes="picture"):
            parts["frame"] = bertviz_frame("bertviz: attention as lines between tokens", elem_id="family-bertviz")
            lines_buttons()
            parts["caption"] = gr.HTML("", elem_classes="family-attention-caption")
        with gr.Column(scale=5, min_width=320):
            member = gr.Dropdown(
                [(each.label, each.key) for each in MEMBERS.values()], value=TRANSLATOR, label="Model",
                elem_id="family-attention-model",
            )  # fmt: skip
            parts["kind"] = gr.Radio(
                [(title, kind) for kind, title in TITLES.items()], value=CROSS, label="Attention",
                elem_id="family-attention-kind",
            )  # fmt: skip
            parts["source"] = gr.Textbox(
                AGREEMENT, label="Text", lines=2, max_lines=3, elem_id="family-attention-source"
            )
            parts["target"] = gr.Textbox(
                "", label="Target text (empty: the model writes it)", max_lines=3, elem_id="family-attention-target"
            )
            page.show_look()
            parts["said"] = gr.HTML("", elem_id="family-attention-said", elem_classes="said")
            with all_controls(page, __file__, set_elsewhere=True):
                view = gr.Radio(
                    [(VIEWS[name].title, name) for name in ("head", "model")], value="head", label="View",
                    elem_id="family-attention-view",
                )  # fmt: skip
                with gr.Row():
                    for what, first in (("layer", OPENED), ("head", 0)):
                        count = max(getattr(each, f"num_{what}s") for each in MEMBERS.values())
                        parts[what] = counted_slider(
                            count, first, label=what.capitalize(), elem_id=f"family-attention-{what}", min_width=150
                        )
    parts["member"] = member
    parts["numbers"], parts["program"] = folds(__file__, "Prints the token that each token attends to most")
    page.keep(
        family_model=member, attention=parts["kind"], source=parts["source"], target=parts["target"], view=view,
        layer=parts["layer"], head=parts["head"], lines=parts["lines"],
    )  # fmt: skip
    _wire(page, parts, member, view)


def _wire(page: Page, parts: dict[str, Any], member: gr.Dropdown, view: gr.Radio) -> None:
    """Write the choices made in the frame to the controls at once, in the browser, and then draw them."""
    layer, head, kind, source, target = (parts[name] for name in ("layer", "head", "kind", "source", "target"))
    place = [layer, head, parts["lines"], parts["held"]]
    parts["frame"].select(None, place, place, js="(...values) => insideBert.attention.chosen(values)", **IN_BROWSER)
    inputs = [*page.sentence, view, layer, head, parts["held"], member, kind, source, target, parts["lines"]]
    moved = [view.input, layer.input, head.input, member.input, kind.input, source.change, target.change]
    page.on(
        [page.settled.change, *moved, parts["frame"].select],
        by_component(parts, partial(drawn, page.services)),
        inputs,
        [parts[name] for name in FILLED],
        for_all=True,
        trigger_mode="always_last",
        show_progress="hidden",
        concurrency_id="family-attention",
        concurrency_limit=AT_ONCE,
    )
    parts["frame"].input(None, None, [parts["lines"]], js="() => insideBert.attention.lines()", **IN_BROWSER)
    gr.on(
        [head.change, parts["lines"].change],
        None,
        [head, parts["lines"]],
        None,
        js="(head, lines) => { insideBert.attention?.show(head, lines); }",
        **IN_BROWSER,
    )


def drawn(services: Services, _text: str, _pair: str, _model: str, *choices: Any) -> Iterator[Any]:
    """Yield the progress of a model's download, then all outputs.

    Raises UserError where it can't be had or read; where nothing is shown yet, a model that is here stands in for it.
    """
    member = services.family.member(choices[4])
    try:
        for message in loading(services.family, member):
            yield {"said": message}
    except UserError as error:
        if choices[3]:  # the contents of the frame
            raise UserError(f"{error} The first three models in the menu need no download.") from error
        yield instead(services, member, str(error), *choices)
        return
    yield shown(services, *choices)


def instead(services: Services, member: Member, why: str, *choices: Any) -> dict[str, Any]:
    """As `shown`, of the model of the same kind that needs no Hub, after the sentence that says so."""
    other = next(each for each in MEMBERS.values() if not each.hub_id and each.stack == member.stack)
    view, layer, head, cached, _, kind, source, target, lines = choices
    if other.key == TRANSLATOR:  # it knows few words
        source, target = other.example, ""
    changes = shown(services, view, layer, head, cached, other.key, kind, source, target, lines)
    return changes | {"member": other.key, "said": instead_html(why, other) + changes["said"]}


def shown(
    services: Services,
    view: str,
    layer: float,
    head: float,
    cached: str,
    key: str,
    kind: str,
    source: str,
    target: str,
    lines: str,
) -> dict[str, Any]:
    """The new values, by the names of the components. A layer or head beyond this model's becomes its last one.

    Another model's example gives way to this model's. Raises UserError for a text that can't be read.
    """
    member = services.family.member(key)
    source, target = clean_text(source), clean_text(target, "The target text")
    if source in EXAMPLES and source != member.example:
        source, target = member.example, ""
    reading = read(services, member, source, target if CROSS in member.kinds else "")
    attention = reading.kinds.get(kind) or next(iter(reading.kinds.values()))
    num_layers, num_heads = attention.weights.shape[:2]
    at, number = clamp(layer, num_layers), clamp(head, num_heads)
    follow = (at, number) != (layer, head)
    shape = VIEWS["model" if view == "model" else "head"]
    named = {"model": member.title, "file": f"attention-{member.key}-{attention.kind}"}
    message, now_cached = two_texts_message(
        attention.weights, attention.rows, attention.columns, shape, at, number, BrowserCache.read(cached), **named
    )
    message["heads"] = heads_on(str(lines or ""), number, num_heads)
    title = f"{TITLES[attention.kind]}, layer {at + 1}, head {number + 1}"
    return {
        "frame": frame_value(message),
        "held": now_cached.say(),
        "layer": slider(at, num_layers, move=follow),
        "head": slider(number, num_heads, move=follow),
        "lines": lines_said(message["heads"], number),
        "kind": gr.update(visible=len(member.kinds) > 1),
        "source": source,
        "target": gr.update(visible=CROSS in member.kinds, value=target),
        "said": said_html(reading, attention, at),
        "caption": caption_html(attention.weights, shape.name),
        "numbers": matrix_table(attention.weights[at, number], attention.rows, attention.columns, title),
        "program": attention_code(member, attention.kind, at, source, reading),
    }


def read(services: Services, member: Member, source: str, target: str) -> Reading:
    """This model's attention for these texts, kept for all readers."""
    own: dict[str, Callable[[], Reading]] = {
        TRANSLATOR: partial(of_our_translator, source, target),
        OUR_DECODER: lambda: of_our_decoder(services.decoder(), source),
        BUNDLED: lambda: of_one_stack(member, *bundled(services), source),
    }
    compute = own.get(member.key, partial(services.family.read, member, source, target))
    return services.family.reading(member, source, target, compute)


def bundled(services: Services) -> tuple[Any, Any]:
    """The bundled BERT and its tokenizer."""
    loaded = services.loaded(BUNDLED)
    return loaded.model, loaded.tokenizer


PART = Part(
    tab="Attention",
    look=(
        "Compare the three kinds of attention. In a decoder, no line leads to a later token; in cross-attention, the "
        "lines lead from the output text to the input text."
    ),
    build=build,
    reads_sentence=False,
    order=6,
)

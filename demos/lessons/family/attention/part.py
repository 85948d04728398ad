"""The attention of one model after another in bertviz: an encoder's, a decoder's, and both with cross-attention."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
from demos.lessons.family.attention.figure import TEXT, attention_code, said_html
from demos.page.layer_head_choices import clamp, counted_slider
from demos.page.loading.loading import AT_ONCE, loading
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Control, Layout, On, Shown, View, choice, drawn, limit, menu, options, unlinked, words
from demos.templates import in_script
from demos.widgets.bertviz.frame import bertviz_frame, lines_buttons, lines_choice, wire_frame
from demos.widgets.bertviz.messages import BrowserCache, LeftOut
from demos.widgets.bertviz.two_texts import two_texts_message
from demos.widgets.bertviz.views import VIEWS, heads_on, lines_said

TITLES = {ENCODER: "Encoder", DECODER: "Decoder (masked)", CROSS: "Cross-attention"}
EXAMPLES = {member.example for member in MEMBERS.values()}
OPENED = 1  # the layer, from 0


def of_member(what: str, value: int) -> Any:
    """A choice of a "layer" or a "head" of the chosen model, by its index; `draw` ends it."""
    most = max(getattr(each, f"num_{what}s") for each in MEMBERS.values())

    def make(_: Services) -> gr.Component:
        return counted_slider(most, value, label=what.capitalize(), elem_id=f"family-attention-{what}", min_width=150)

    return choice(value, Control(make, lambda _, said: clamp(said, most)))


class Attention(View):
    tab, order, reads_sentence = "Attention", 6, False
    look = (
        "Compare the three kinds of attention: from which text do their lines come, to which text do they lead, and "
        "does a line lead to a later token?"
    )

    @dataclass(frozen=True)
    class Choices:
        family_model: str = menu(
            [(each.label, each.key) for each in MEMBERS.values()],
            TRANSLATOR,
            "Model",
            filterable=True,
            elem_id="family-attention-model",
        )
        attention: str = options(
            [(title, kind) for kind, title in TITLES.items()], CROSS, "Attention", elem_id="family-attention-kind"
        )
        source: str = words(AGREEMENT, "Text", lines=2, max_lines=3, elem_id="family-attention-text")
        target: str = words(
            "", "Target text (empty: the model writes it)", max_lines=3, elem_id="family-attention-target"
        )
        view: str = options(
            [(VIEWS[name].title, name) for name in ("head", "model")], "head", "View", elem_id="family-attention-view"
        )
        layer: int = of_member("layer", OPENED)
        head: int = of_member("head", 0)
        lines: str = lines_choice("all")
        cached: str = unlinked("")  # what the browser has of the frame's drawing
        picked: str = unlinked("", redraws=True)  # another with each choice in the frame

    def lay_out(self, at: Layout) -> None:
        at["cached"] = at.hold("cached", gr.Textbox("", visible="hidden"))
        picked, lines = at.hold("picked", gr.Textbox("", visible="hidden")), at.control("lines")
        with gr.Row(elem_classes="family-attention-views"):
            with gr.Column(scale=6, min_width=320, elem_id="family-attention-frame", elem_classes="picture"):
                at["frame"] = bertviz_frame("bertviz: attention as lines between tokens", elem_id="family-bertviz")
                lines_buttons()
                at["caption"] = gr.HTML("", elem_classes="family-attention-caption")
            with gr.Column(scale=5, min_width=320):
                for name in ("family_model", "attention", "source", "target"):
                    at.control(name)
                at.look()
                at["said"] = gr.HTML("", elem_id="family-attention-said", elem_classes="said")
                with at.all_controls(set_elsewhere=True):
                    at.control("view")
                    with gr.Row():
                        place = at.control("layer"), at.control("head")
        at.folds("Prints the token that each token attends to most")
        wire_frame(at["frame"], *place, lines, at["cached"], picked)

    @drawn(
        limits=("family_model", "attention", "source", "target", "layer", "head", "lines"),
        for_all=True,
        concurrency_id="family-attention",
        concurrency_limit=AT_ONCE,
    )
    def draw(self, on: On, c: Choices) -> Iterator[Shown]:
        """The progress of a model's download, then all outputs.

        Raises UserError if it can't be loaded; if nothing is shown yet, a bundled model is shown instead.
        """
        member = on.services.family.member(c.family_model)
        try:
            for message in loading(on.services.family, member):
                yield {"said": message}
        except UserError as error:
            if c.cached:
                raise UserError(f"{error} The first three models in the menu need no download.") from error
            yield instead(on.services, c, member, str(error))
            return
        yield shown(on.services, c)


def instead(services: Services, c: Attention.Choices, member: Member, why: str) -> Shown:
    """As `shown`, of the model of the same kind that needs no Hub, after the sentence that says so."""
    other = next(each for each in MEMBERS.values() if not each.hub_id and each.stack == member.stack)
    c = replace(c, family_model=other.key)
    if other.key == TRANSLATOR:  # it knows few words
        c = replace(c, source=other.example, target="")
    changes = shown(services, c)
    return changes | {"said": TEXT.instead(why, other) + changes["said"]}


def shown(services: Services, c: Attention.Choices) -> Shown:
    """The values of all outputs. A layer or head beyond this model's becomes its last one.

    Another model's example gives way to this model's. Raises UserError for a text that can't be read.
    """
    member = services.family.member(c.family_model)
    source, target = clean_text(c.source), clean_text(c.target, "The target text")
    if source in EXAMPLES and source != member.example:
        source, target = member.example, ""
    reading = read(services, member, source, target if CROSS in member.kinds else "")
    attention = reading.kinds.get(c.attention) or next(iter(reading.kinds.values()))
    num_layers, num_heads = attention.weights.shape[:2]
    layer, head = clamp(c.layer, num_layers), clamp(c.head, num_heads)
    shape = VIEWS[c.view]
    named = {"model": member.title, "file": f"attention-{member.key}-{attention.kind}"}
    message, now_cached = two_texts_message(
        attention.weights, attention.rows, attention.columns, shape, layer, head, BrowserCache.read(c.cached), **named
    )
    message["heads"] = heads_on(c.lines, head, num_heads)
    title = f"{TITLES[attention.kind]}, layer {layer + 1}, head {head + 1}"
    return {
        "frame": in_script(message),
        "cached": now_cached.say(),
        "family_model": limit(value=member.key),
        "layer": limit(maximum=num_layers - 1, value=layer),
        "head": limit(maximum=num_heads - 1, value=head),
        "lines": limit(value=lines_said(message["heads"], head)),
        "attention": limit(visible=len(member.kinds) > 1),
        "source": limit(value=source),
        "target": limit(visible=CROSS in member.kinds, value=target),
        "said": said_html(reading, attention, layer),
        "caption": TEXT.caption(shape.name, LeftOut.of(attention.weights)),
        "numbers": lambda: matrix_table(attention.weights[layer, head], attention.rows, attention.columns, title),
        "program": lambda: attention_code(member, attention.kind, layer, source, reading),
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


def answer(services: Services, sentence: Sentence) -> Answer:
    """For its example sentence."""
    cross = of_our_translator(MEMBERS[TRANSLATOR].example).kinds[CROSS]
    return Answer(facts={"m": len(cross.rows), "n": len(cross.columns)})

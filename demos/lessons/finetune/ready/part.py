"""Part "Ready models": one text, three answers from adapters that are bundled, or from the Hub's well-known models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.lessons.finetune.ready.program import hub_code, ready_code
from demos.page.examples import examples_of, fill_from
from demos.page.folds import code_fold, fold, formula_fold, source_fold
from demos.page.guards import notice_html
from demos.page.lesson import Page, Part, by_component
from demos.page.loading.loading import AT_ONCE, loading
from demos.page.services import Sentence
from demos.templates import templates
from demos.training.learning.model import Trained
from demos.training.ready.hub_models import HUB_MODELS, HubModels
from demos.training.ready.models import LICENCES, TASKS, TRAINED_ON, ReadyModels, card
from demos.widgets.tasks.registry import view_of

TEXT = templates(__file__)
EXAMPLES = {
    "Where do I work? (Hugging Face)": [
        "My name is Sylvain and I work at Hugging Face in Brooklyn.", "Where do I work?",
    ],
    "Two sentences (Hugging Face)": [
        "I've been waiting for a HuggingFace course my whole life.\nI hate this so much!",
        "What have I been waiting for?",
    ],
    "Droplets (SQuAD)": [
        "Precipitation forms as smaller droplets coalesce via collision with other rain drops or ice crystals within a "
        "cloud.",
        "Where do water droplets collide with ice crystals to form precipitation?",
    ],
}  # fmt: skip
FIRST = next(iter(EXAMPLES.values()))
MOST_LINES = 5  # of the text, that are classified one by one
MAX_TEXT, MAX_QUESTION = 1_500, 300  # characters
ADAPTERS, HUB = "adapters", "hub"  # the models whose answers are shown
ANSWERERS = [
    ("Answers: bundled adapters", ADAPTERS),
    (f"Answers: Hub’s models ({sum(spec.size_mb for spec in HUB_MODELS.values()):,} MB)", HUB),
]


def lines_of(text: str) -> list[str]:
    """The text's lines that are not empty, as far as they are classified."""
    return [line.strip() for line in text.splitlines() if line.strip()][:MOST_LINES]


def answer_html(kind: str, trained: Callable[[str], Trained], inputs: list[list[str]]) -> str:
    """The answers of one task's model; `inputs` are what the task's try-it boxes would hold, one list an answer."""
    view = view_of(kind)
    try:
        examples = [view.example_of(boxes) for boxes in inputs]
    except UserError as error:
        return notice_html(str(error))
    model = trained(kind)
    answers = model.answers(examples)
    return TEXT.answers([view.answer(model.task, answer, boxes) for answer, boxes in zip(answers, inputs, strict=True)])


def show(
    models: ReadyModels, hub: HubModels, _: Sentence, text: str, question: str, answerer: str = ADAPTERS
) -> tuple[Callable[[], str], ...]:
    """The three answers, each with its model and a whole program; and the program that prints them all."""
    text, question = clean_text((text or "")[:MAX_TEXT]).strip(), (question or "")[:MAX_QUESTION]
    lines = lines_of(text)
    inputs = {
        "sentence": [[line] for line in lines] or [[""]],
        "entities": [[text]],
        "question": [[question, text]],
    }
    programs = {kind: hub_code(HUB_MODELS[kind], text, lines, question) for kind in TASKS}
    by_hub = answerer == HUB
    trained = hub.trained if by_hub else models.get

    def task(kind: str) -> str:
        return TEXT.task(kind, answer_html(kind, trained, inputs[kind]), about(kind, by_hub), programs[kind])

    def program() -> str:
        return "\n\n".join(programs.values()) if by_hub else ready_code(text, lines, question)

    return (*(partial(task, kind) for kind in TASKS), program)


def about(kind: str, by_hub: bool) -> dict[str, Any]:
    """The model, its training data, its license."""
    if by_hub:
        spec = HUB_MODELS[kind]
        return {"hub": True, "title": spec.hub_id, "data": spec.data, "licence": spec.licence}
    return {"hub": False, "title": "Adapter for MiniLM", "data": TRAINED_ON[kind], "licence": LICENCES[kind]}


def chosen(hub: HubModels, requested: str, shown: str) -> Iterator[dict[str, Any]]:
    """The models in use from now on, once they are in memory; if they can't be had, the adapters and the reason."""
    try:
        for kind in TASKS if requested == HUB else ():
            for message in loading(hub, hub.spec(kind)):
                yield {"said": message}
    except UserError as error:
        yield {"asked": ADAPTERS, "answerer": ADAPTERS, "said": TEXT.stays(str(error))}
        return
    yield {"answerer": requested, "said": ""} if requested != shown else {}


def build(page: Page) -> None:
    """One text and one question, three answers beside each other."""
    models = ReadyModels(lambda: page.services.loaded(BUNDLED), page.services.memory)
    hub = HubModels(page.services.memory)
    parts: dict[str, Any] = {"answerer": gr.Textbox(ADAPTERS, visible="hidden")}
    with gr.Row():
        text = gr.Textbox(
            FIRST[0], label="Text (one sentence per line)", show_label=False,
            placeholder="A text, one sentence per line", lines=1, max_lines=6,
            max_length=MAX_TEXT, scale=10, elem_id="finetune-ready-text",
        )  # fmt: skip
        question = gr.Textbox(
            FIRST[1], label="Question about it", show_label=False,
            placeholder="A question about it", lines=1, max_lines=3, max_length=MAX_QUESTION,
            scale=4, elem_id="finetune-ready-ask",
        )  # fmt: skip
        menu = examples_of([*EXAMPLES], label="Examples", show_label=False, scale=4, min_width=180)
        parts["asked"] = gr.Dropdown(
            ANSWERERS, value=ADAPTERS, label="Model", show_label=False, filterable=False, scale=6, min_width=240,
            elem_id="finetune-ready-by",
        )  # fmt: skip
    fill_from(menu, [text, question], EXAMPLES)
    parts["said"] = gr.HTML("", elem_id="finetune-ready-said", elem_classes="said")
    with gr.Row(elem_classes="ready-answers picture"):
        answers = [gr.HTML(min_height=120, elem_id=f"finetune-ready-{kind}") for kind in TASKS]
    page.show_look()
    with fold(__file__, "library", "The library, the Hub, and pipelines"):
        gr.HTML(TEXT.pipelines(HUB_MODELS["sentence"]), elem_id="finetune-ready-pipelines")
    with fold(__file__, "numbers", "The numbers"):
        gr.HTML(TEXT.numbers([card(kind) for kind in TASKS]), elem_id="finetune-ready-scores")
    formula_fold(__file__)
    program = code_fold(__file__, "Prints these answers")
    source_fold(__file__)
    page.keep(ready=text, ask=question, ready_by=parts["asked"])
    page.draw(
        partial(show, models, hub), [text, question, parts["answerer"]], [*answers, program], show_progress="hidden"
    )
    page.on(
        [page.settled.change, parts["asked"].input],
        by_component(parts, partial(chosen, hub)),
        [parts["asked"], parts["answerer"]],
        [parts[name] for name in ("answerer", "asked", "said")],
        trigger_mode="always_last",
        show_progress="hidden",
        concurrency_id="ready-models",
        concurrency_limit=AT_ONCE,
    )


PART = Part(
    tab="Ready models",
    look="Three models, trained in advance, are applied to one text. Those that come with this app are adapters: about "
    "0.7 MB of added weights each, for one shared encoder. Change a word: which answers change?",
    build=build,
    reads_sentence=False,
    order=7,
)

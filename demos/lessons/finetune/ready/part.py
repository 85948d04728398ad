"""Part "Ready models": one text, and the answers of the models that it fits: bundled adapters, or the Hub's models."""

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
    "A bakery in Lisbon": ["Anna Keller loves her new job at a bakery in Lisbon.", "Where is the bakery?"],
    "Two lines: a frozen lake": ["The lake was frozen all winter.\nAll winter long, there was ice on the lake.", ""],
    "Wrong: who is taller": ["The boy is taller than his father.\nHis father is taller than the boy.", ""],
    "Wrong: Where do I work? (Hugging Face)": [
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
# Of these texts, the answers that are correct, as `TaskView.in_words` has them.
CORRECT: dict[tuple[str, ...], dict[str, str]] = {
    tuple(EXAMPLES["A bakery in Lisbon"]): {
        "sentence": "positive", "entities": "Anna Keller PER, Lisbon LOC", "question": "Lisbon",
    },
    tuple(EXAMPLES["Two lines: a frozen lake"]): {"pair": "paraphrase", "entities": "no name"},
    tuple(EXAMPLES["Wrong: who is taller"]): {"pair": "different", "entities": "no name"},
    tuple(EXAMPLES["Wrong: Where do I work? (Hugging Face)"]): {
        "entities": "Sylvain PER, Hugging Face ORG, Brooklyn LOC", "question": "Hugging Face",
    },
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


def fits(kind: str, lines: list[str], question: str) -> bool:
    """Whether a task's model has an answer that means something: a text that is empty gets its notice from it."""
    if kind == "sentence":
        return not lines or bool(statements(lines))
    if kind == "pair":
        return len(lines) == 2
    return kind != "question" or not lines or bool(question.strip())


def statements(lines: list[str]) -> list[str]:
    """The lines that are no questions, since a question has no opinion."""
    return [line for line in lines if not line.endswith("?")]


def answer_html(kind: str, trained: Callable[[str], Trained], inputs: list[list[str]], correct: str = "") -> str:
    """The answers of one task's model; `inputs` are what the task's try-it boxes would hold, one list an answer.

    `correct` is what the answer in words should be, where that is known: where it is not, the correct one is shown.
    """
    view = view_of(kind)
    try:
        examples = [view.example_of(boxes) for boxes in inputs]
    except UserError as error:
        return notice_html(str(error))
    model = trained(kind)
    answers = model.answers(examples)
    both = list(zip(answers, inputs, strict=True))
    shown = TEXT.answers([view.answer(model.task, answer, boxes) for answer, boxes in both])
    said = ", ".join(view.in_words(model.task, answer, boxes) for answer, boxes in both)
    wrong = correct and not view.agrees(said.casefold(), correct.casefold())
    return TEXT.wrong(correct) + shown if wrong else shown


def show(
    models: ReadyModels, hub: HubModels, _: Sentence, text: str, question: str, answerer: str = ADAPTERS
) -> tuple[Callable[[], str], ...]:
    """An answer of each task, with its model and a whole program, or what its text lacks; a program for all answers."""
    text, question = clean_text((text or "")[:MAX_TEXT]).strip(), (question or "")[:MAX_QUESTION]
    lines = lines_of(text)
    opinions = statements(lines)
    inputs = {
        "sentence": [[line] for line in opinions] or [[""]],
        "entities": [[text]],
        "question": [[question, text]],
        "pair": [lines],
    }
    programs = {kind: hub_code(HUB_MODELS[kind], text, opinions, question) for kind in HUB_MODELS}
    correct = CORRECT.get((text, question), {})

    def task(kind: str) -> str:
        if not fits(kind, lines, question):
            return TEXT.idle(kind)
        by_hub = answerer == HUB and kind in HUB_MODELS
        shown = answer_html(kind, hub.trained if by_hub else models.get, inputs[kind], correct.get(kind, ""))
        return TEXT.task(kind, shown, about(kind, by_hub), programs.get(kind, ""))

    def program() -> str:
        fitting = [kind for kind in TASKS if fits(kind, lines, question)]
        if answerer != HUB:
            return ready_code(text, lines, opinions, question, fitting)
        return "\n\n".join(programs[kind] for kind in fitting if kind in programs)

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
        for kind in HUB_MODELS if requested == HUB else ():
            for message in loading(hub, hub.spec(kind)):
                yield {"said": message}
    except UserError as error:
        yield {"asked": ADAPTERS, "answerer": ADAPTERS, "said": TEXT.stays(str(error))}
        return
    yield {"answerer": requested, "said": ""} if requested != shown else {}


def build(page: Page) -> None:
    """One text and one question, the answers beside each other."""
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
    look="Models that were trained in advance are applied to one text, each where the text fits its task. Those that "
    "come with this app are adapters: about 0.7 MB of added weights each, for one shared encoder. Change a word: which "
    "answers change?",
    build=build,
    reads_sentence=False,
    order=7,
)

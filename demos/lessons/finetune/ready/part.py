"""Part "Ready models": one text, and the answers of the models that it fits: bundled adapters, or the Hub's models."""

import re
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import gradio as gr

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.files import read_beside
from demos.page.examples import examples_of, fill_from
from demos.page.folds import fold
from demos.page.guards import notice_html
from demos.page.loading.loading import AT_ONCE, loading
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, menu, unlinked, words
from demos.templates import templates
from demos.training.learning.model import Trained
from demos.training.ready.hub_models import HUB_MODELS, HubModels
from demos.training.ready.models import LICENCES, TASKS, TRAINED_ON, card
from demos.widgets.tasks.registry import view_of

TEXT = templates(__file__)
EXAMPLES = {
    "A bakery in Lisbon": ["Anna Keller loves her new job at a bakery in Lisbon.", "Where is the bakery?"],
    "Two lines: a frozen lake": ["The lake was frozen all winter.\nAll winter long, there was ice on the lake.", ""],
    "Wrong: who is taller": ["The boy is taller than his father.\nHis father is taller than the boy.", ""],
    "Wrong: Where do I work? (Hugging Face)": [
        "My name is Sylvain and I work at Hugging Face in Brooklyn.",
        "Where do I work?",
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
}
# Of these texts, the answers that are correct, as `TaskView.in_words` has them.
CORRECT: dict[tuple[str, ...], dict[str, str]] = {
    tuple(EXAMPLES["A bakery in Lisbon"]): {
        "sentence": "positive",
        "entities": "Anna Keller PER, Lisbon LOC",
        "question": "Lisbon",
    },
    tuple(EXAMPLES["Two lines: a frozen lake"]): {"pair": "paraphrase", "entities": "no name"},
    tuple(EXAMPLES["Wrong: who is taller"]): {"pair": "different", "entities": "no name"},
    tuple(EXAMPLES["Wrong: Where do I work? (Hugging Face)"]): {
        "entities": "Sylvain PER, Hugging Face ORG, Brooklyn LOC",
        "question": "Hugging Face",
    },
}
FIRST = next(iter(EXAMPLES.values()))
MOST_LINES = 5  # of the text, that are classified one by one
MAX_TEXT, MAX_QUESTION = 1_500, 300  # characters
ADAPTERS, HUB = "adapters", "hub"  # the models whose answers are shown
ANSWERERS = [
    ("Answers: bundled adapters", ADAPTERS),
    (f"Answers: Hub’s models ({sum(spec.size_mb for spec in HUB_MODELS.values()):,} MB)", HUB),
]
ADAPTER, ENCODER = 0.7, 22.7  # millions of weights, as the question says
FLOAT = 4  # bytes of a weight of the encoder; one of an adapter has one
QUESTION_TASKS = 5
# The beginning of each task's part of program.txt.
TITLES = {"sentence": "Sentiment", "entities": "Names", "question": "Question", "pair": "Two lines"}


def lines_of(text: str) -> list[str]:
    """The text's lines that are not empty, as far as they are classified."""
    return [line.strip() for line in text.splitlines() if line.strip()][:MOST_LINES]


def fits(kind: str, lines: list[str], question: str) -> bool:
    """Whether a task's model has a meaningful answer. An empty text passes, since the model's own notice covers it."""
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


def about(kind: str, by_hub: bool) -> dict[str, str | bool]:
    """The model, its training data, its license."""
    if by_hub:
        spec = HUB_MODELS[kind]
        return {"hub": True, "title": spec.hub_id, "data": spec.data, "licence": spec.licence}
    return {"hub": False, "title": "Adapter for MiniLM", "data": TRAINED_ON[kind], "licence": LICENCES[kind]}


def hub_models(services: Services) -> HubModels:
    """The Hub's models, for all readers."""
    return HubModels(services.memory)


class Ready(View):
    tab, order, reads_sentence = "Ready models", 7, False
    look = (
        "Models that were trained in advance are applied to one text; each is used only if the text fits its task. "
        "Those that come with this app are adapters for one shared encoder. Change a word: which answers change?"
    )

    @dataclass(frozen=True)
    class Choices:
        ready: str = words(
            FIRST[0],
            "Text (one sentence per line)",
            show_label=False,
            placeholder="A text, one sentence per line",
            lines=1,
            max_lines=6,
            max_length=MAX_TEXT,
            scale=10,
            elem_id="finetune-ready-text",
        )
        ask: str = words(
            FIRST[1],
            "Question about it",
            show_label=False,
            placeholder="A question about it",
            lines=1,
            max_lines=3,
            max_length=MAX_QUESTION,
            scale=4,
            elem_id="finetune-ready-ask",
        )
        ready_by: str = menu(
            ANSWERERS, ADAPTERS, "Model", show_label=False, scale=6, min_width=240, elem_id="finetune-ready-by"
        )
        answerer: str = unlinked(ADAPTERS, redraws=True)  # what answers: `ready_by`, once that is in memory

    def lay_out(self, at: Layout) -> None:
        at["answerer"] = at.hold("answerer", gr.Textbox(ADAPTERS, visible="hidden"))
        with gr.Row():
            boxes = [at.control("ready"), at.control("ask")]
            examples = examples_of([*EXAMPLES], label="Examples", show_label=False, scale=4, min_width=180)
            at.control("ready_by")
        fill_from(examples, boxes, EXAMPLES)
        at["said"] = gr.HTML("", elem_id="finetune-ready-said", elem_classes="said")
        with gr.Row(elem_classes="ready-answers picture"):
            for kind in TASKS:
                at[kind] = gr.HTML(min_height=120, elem_id=f"finetune-ready-{kind}")
        at.look()
        with fold(__file__, "library", "The library, the Hub, and pipelines"):
            gr.HTML(TEXT.pipelines(HUB_MODELS["sentence"]), elem_id="finetune-ready-pipelines")
        with fold(__file__, "numbers", "The numbers"):
            gr.HTML(TEXT.numbers([card(kind) for kind in TASKS]), elem_id="finetune-ready-scores")
        at.folds("Prints these answers", numbers=())

    @drawn(by=("ready_by", "answerer"), limits=("ready_by",), concurrency_id="ready-models", concurrency_limit=AT_ONCE)
    def draw(self, on: On, c: Choices) -> Generator[Shown]:
        """The models in use from now on, once they are in memory; if they can't be had, the adapters and the reason."""
        if c.ready_by == c.answerer:
            yield {}
            return
        hub = on.services.shared(hub_models)
        try:
            for kind in HUB_MODELS if c.ready_by == HUB else ():
                for message in loading(hub, hub.spec(kind)):
                    yield {"said": message}
        except UserError as error:
            yield {"ready_by": limit(value=ADAPTERS), "answerer": ADAPTERS, "said": TEXT.stays(str(error))}
            return
        yield {"answerer": c.ready_by, "said": ""}

    @drawn(*TASKS, "program", by=("ready", "ask", "answerer"))
    def draw_answers(self, on: On, c: Choices) -> Shown:
        """An answer of each task, with its model and a whole program, or what its text lacks; a program for all."""
        text, question = clean_text(c.ready[:MAX_TEXT]).strip(), c.ask[:MAX_QUESTION]
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
            by_hub = c.answerer == HUB and kind in HUB_MODELS
            trained = on.services.shared(hub_models).trained if by_hub else on.services.ready.get
            shown = answer_html(kind, trained, inputs[kind], correct.get(kind, ""))
            return TEXT.task(kind, shown, about(kind, by_hub), programs.get(kind, ""))

        def program() -> str:
            fitting = [kind for kind in TASKS if fits(kind, lines, question)]
            if c.answerer != HUB:
                return ready_code(text, lines, opinions, question, fitting)
            return "\n\n".join(programs[kind] for kind in fitting if kind in programs)

        return {kind: partial(task, kind) for kind in TASKS} | {"program": program}


def answer(_: Services, __: Sentence) -> Answer:
    """The size of one adapter, in millions of bytes, independent of the sentence."""
    mistakes = {
        "whole": ENCODER * FLOAT + ADAPTER,
        "five": QUESTION_TASKS * ADAPTER,
        "float": FLOAT * ADAPTER,
        "nothing": 0.0,
    }
    return Answer(number=ADAPTER, mistakes=mistakes)


def ready_code(text: str, lines: Sequence[str], opinions: Sequence[str], question: str, tasks: Collection[str]) -> str:
    """Prints the adapters' answers of these tasks; runs where their files are: a notebook brings them.

    `lines` are the text's, two where they are compared, and `opinions` those whose sentiment is classified.
    """
    values = {"TEXT": text, "LINES": list(lines), "OPINIONS": list(opinions), "QUESTION": question}
    head, *parts = read_beside(__file__, "program.txt").split("\n\n# ")
    parts = [part for part in parts if part.partition(":")[0] in {TITLES[kind] for kind in tasks}]
    return _filled("\n\n# ".join([head, *parts]).rstrip() + "\n", values)


def hub_code(spec: ModelSpec, text: str, lines: Sequence[str], question: str) -> str:
    """Prints the answers of one of the Hub's models about a text, or its lines; runs wherever transformers is."""
    values = {
        "MODEL": spec.hub_id,
        "REVISION": spec.revision,
        "LINES": list(lines),
        "TEXT": text,
        "QUESTION": question,
    }
    return _filled(read_beside(__file__, f"program_{spec.key}.txt"), values)


def _filled(program: str, values: Mapping[str, object]) -> str:
    """The template with each name in capitals replaced by its value; the reader's text is not searched for names."""
    pattern = re.compile(rf"\b({'|'.join(values)})\b")
    return pattern.sub(lambda match: repr(values[match[1]]), program)

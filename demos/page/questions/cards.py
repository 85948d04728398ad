"""A lesson's question cards on its page: one component for all of its parts, and one event that reveals an answer."""

import json
from typing import Any

import gradio as gr
from markupsafe import Markup

from demos.errors import UserError
from demos.files import read_beside
from demos.page.lesson import IN_BROWSER, Page
from demos.page.questions.question_file import Question, questions
from demos.page.questions.reveal import TEXT, UNREADABLE, named, reveal
from demos.page.services import Sentence
from demos.templates import in_script

LONGEST_MESSAGE = 200  # characters of a browser's request
CARDS = "questions"  # the id of the component


def build_cards(page: Page) -> None:
    """Lay out the cards of the open lesson's parts, and wire what reveals an answer; when its choices are all known."""
    questions_by_part = {
        part: question for (lesson, part), question in questions().items() if lesson == page.lesson.slug
    }
    if not questions_by_part:
        return
    choices = sorted({name for question in questions_by_part.values() for name in question.choices})
    if missing := [name for name in choices if name not in page.choices]:
        raise UserError(
            f"A question of the lesson {page.lesson.slug} reads {missing[0]!r}, which is none of its choices."
        )
    sizes = {key: [spec.num_layers, spec.num_heads, spec.width] for key, spec in page.services.store.catalogue.items()}
    cards = gr.HTML(
        cards_html(page, questions_by_part),
        html_template="${value}",
        js_on_load=read_beside(__file__, "script.js"),
        apply_default_css=False,
        elem_id=CARDS,
        sizes=json.dumps(sizes),
        lesson=page.lesson.slug,
    )
    message_box, answered = gr.Textbox("", visible="hidden"), gr.Textbox("", visible="hidden")

    def show(sentence: Sentence, message: str, *values: Any) -> str:
        part, response = read_message(message)
        if part not in questions_by_part:
            raise UserError(UNREADABLE)
        now = dict(zip(choices, values, strict=True))
        question = questions_by_part[part]
        try:
            answer = reveal(page.services, sentence, question, response, *(now[name] for name in question.choices))
        except UserError as error:
            answer = {"html": TEXT.refused(str(error))}
        return in_script(answer | {"part": part})

    page.on(
        [cards.select],
        page.services.drawings.remembered(show),
        [message_box, *(page.choices[name] for name in choices)],
        [answered],
        of_sentence=True,
        show_progress="hidden",
        trigger_mode="multiple",
        js="(text, pair, model, said, ...choices) => [text, pair, model, insideBert.questions.asked(), ...choices]",
    ).then(None, [answered], None, js="(answer) => insideBert.questions.answered(answer)", **IN_BROWSER)


def cards_html(page: Page, questions_by_part: dict[str, Question]) -> Markup:
    """All cards, as templates that the script fills in."""
    ordered = [
        {
            "part": part,
            "kind": question.kind,
            "text": Markup(named(question.text)),
            "unit": question.unit,
            "offers": [(answer.name, Markup(named(answer.text))) for answer in question.answers],
        }
        for part, question in questions_by_part.items()
    ]
    return TEXT.cards(ordered, page.lesson.tabs)


def read_message(message: str) -> tuple[str, str]:
    """(the part, the answer) that a browser sends as JSON. Raises UserError for anything else."""
    try:
        part, response = json.loads(message) if len(message) <= LONGEST_MESSAGE else (None, None)
    except (ValueError, TypeError) as error:
        raise UserError(UNREADABLE) from error
    if not isinstance(part, str) or not isinstance(response, str):
        raise UserError(UNREADABLE)
    return part, response

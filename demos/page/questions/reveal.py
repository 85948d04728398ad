"""A reader's answer compared with the correct one: whether it is correct, and the explanation."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup, escape

from demos.bert.model.encoding import Encoding
from demos.errors import UserError
from demos.figures.short_text import short
from demos.files import Json
from demos.page.questions.answer import Answer
from demos.page.questions.question_file import Question, placeholders
from demos.page.services import Sentence, Services
from demos.templates import templates

TEXT = templates(__file__)
UNREADABLE = "This answer can't be read; reload the page and try again."
MOST_NAMED = 6  # right tokens that are named


def reveal(services: Services, sentence: Sentence, question: Question, response: str, *choices: Any) -> Json:
    """The message to the browser: {"right": True, False or None where nothing was answered, "said", "html", "keys"}.

    "keys" are the names of the right answers of a choice.
    `response` is the name of an answer, a number, or a token as `token_positions` reads it; "" for none.
    `choices` are the values of `question.choices`. Raises UserError for what can't be read, or without a sentence.
    """
    answer = Answer(keys=frozenset({question.right}))
    if question.compute is not None:
        if not f"{sentence.text}{sentence.text_pair}".strip():
            raise UserError(TEXT.nothing())
        computed = question.compute(services, sentence, *choices)
        keys = computed.keys or (answer.keys if question.right else frozenset())
        answer = replace(computed, keys=keys)
    encoding = services.run(sentence).encoding if question.kind == "token" else None
    right = is_right(question, answer, response, encoding) if response else None
    html = TEXT.revealed(
        right,
        response_in_words(question, response, encoding) if response else "",
        truths(question, answer, encoding),
        filled(question.revealed, answer.facts),
        explained(question, answer),
        question.unit,
    )
    words = Markup(response_in_words(question, response, encoding)).striptags() if response else ""
    return {"right": right, "said": words, "html": html, "keys": sorted(answer.keys)}


def in_full(
    services: Services,
    sentence: Sentence,
    question: Question,
    choices: Mapping[str, Any],
    shown: Mapping[str, Any],
) -> Markup:
    """The question with its answers, and, folded, the correct one and the reasons, for places where no answer can be
    given.

    `choices` are the part's, by name, and `shown` the same as the page says them. If no answer can be computed from the
    sentence, a line says so instead.
    """
    try:
        answer = reveal(services, sentence, question, "", *(choices[name] for name in question.choices))["html"]
    except UserError as error:
        answer = TEXT.refused(str(error))
    offers = [Markup(named(choice.text)) for choice in question.answers if question.kind == "choice"]
    spec = services.loaded(sentence.model).spec
    known = {
        **shown,
        "text": sentence.text,
        "pair": sentence.text_pair,
        "words": len(f"{sentence.text} {sentence.text_pair}".split()),
        "layers": spec.num_layers,
        "heads": spec.num_heads,
        "width": spec.width,
    }
    html = TEXT.in_full(Markup(named(question.text)), offers, answer)
    for name, value in known.items():
        html = html.replace(TEXT.space(name), escape(value))
    return html


def is_right(question: Question, answer: Answer, response: str, encoding: Encoding | None) -> bool:
    """Whether the answer is right: one of those that are, or near enough to the number."""
    if question.kind == "choice":
        if response not in {choice.name for choice in question.answers}:
            raise UserError(UNREADABLE)
        return response in answer.keys
    if question.kind == "number":
        assert answer.number is not None
        off = question.within * (abs(answer.number) if question.within_share else 1)
        return abs(_number(response) - answer.number) <= off + 1e-9 * abs(answer.number)
    assert encoding is not None
    return bool(token_positions(encoding, response) & answer.tokens)


def token_positions(encoding: Encoding, response: str) -> frozenset[int]:
    """The tokens that a click means: "cls", "sep" (typed ones too), or "0:4:10", characters [4, 10) of text 0 or 1.

    Characters are code points. Raises UserError for anything else.
    """
    if response == "cls":
        return frozenset({0})
    if response == "sep":
        ids, marks = encoding.input_ids, encoding.special_tokens_mask  # the last token is a [SEP]
        return frozenset(place for place, mark in enumerate(marks) if mark and ids[place] == ids[-1])
    numbers = response.split(":")
    if len(numbers) != 3 or not all(number.isascii() and number.isdigit() and len(number) < 6 for number in numbers):
        raise UserError(UNREADABLE)
    sentence, start, end = map(int, numbers)
    spans = enumerate(zip(encoding.sequence_ids, encoding.offsets, strict=True))
    return frozenset(place for place, (of, (first, last)) in spans if of == sentence and first < end and start < last)


def word_of(encoding: Encoding, place: int) -> str:
    """The whole word that a token belongs to, as it was typed; a special token unchanged."""
    word = encoding.word_index[place]
    if word is None:
        return encoding.tokens[place]
    text = encoding.text_pair if encoding.sequence_ids[place] else encoding.text
    spans = [span for span, of in zip(encoding.offsets, encoding.word_index, strict=True) if of == word]
    return text[spans[0][0] : spans[-1][1]]


def response_in_words(question: Question, response: str, encoding: Encoding | None) -> str | Markup:
    """A reader's answer in words."""
    if question.kind == "choice":
        return next((Markup(named(choice.text)) for choice in question.answers if choice.name == response), "")
    if question.kind == "number":
        return number_text(_number(response))
    assert encoding is not None
    places = sorted(token_positions(encoding, response))
    return short(word_of(encoding, places[0]), 40) if places else ""


def truths(question: Question, answer: Answer, encoding: Encoding | None) -> list[str | Markup]:
    """The right answers in words, a few of them where there are many."""
    if question.kind == "choice":
        return [Markup(named(choice.text)) for choice in question.answers if choice.name in answer.keys]
    if question.kind == "number":
        assert answer.number is not None
        return [number_text(answer.number)]
    assert encoding is not None
    return list(dict.fromkeys(short(word_of(encoding, place), 40) for place in sorted(answer.tokens)))[:MOST_NAMED]


def explained(question: Question, answer: Answer) -> list[dict[str, object]]:
    """Each answer, or misconception, with why it is right or wrong, and the number that it leads to."""
    return [
        {
            "right": question.kind == "choice" and choice.name in answer.keys,
            "text": Markup(named(choice.text)),
            "why": filled(choice.why, answer.facts),
            "number": number_text(answer.mistakes[choice.name]) if choice.name in answer.mistakes else None,
        }
        for choice in question.answers
    ]


def filled(html: str, facts: Mapping[str, object]) -> Markup:
    """A text of a question file with its placeholders filled in, escaped."""
    return Markup(html).format(**facts)


def named(html: str) -> str:
    """A text that is shown before anything is computed: its placeholders become elements that the browser fills."""
    return str(Markup(html).format(**{name: TEXT.space(name) for name in placeholders(html)}))


def number_text(number: float) -> str:
    """1234.5 as 1,234.5: at most four digits where it has a fraction."""
    return f"{number:,.0f}" if number == round(number) or abs(number) >= 1000 else f"{number:.4g}"


def _number(response: str) -> float:
    try:
        number = float(response) if len(response) < 40 else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UserError(UNREADABLE)
    return number

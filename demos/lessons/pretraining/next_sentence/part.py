"""Next sentence: does B follow A, four inputs side by side, how pairs are made, and how often the model is right."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from demos.bert.model.encoding import encode
from demos.bert.pretraining.next_sentence import LABELS, next_probabilities
from demos.lessons.pretraining.next_sentence.answers import Reader, check_sentences, made
from demos.lessons.pretraining.next_sentence.figure import (
    answer_html,
    cases_html,
    gist_html,
    numbers_html,
    sequence_html,
)
from demos.lessons.pretraining.next_sentence.layout import PUT, SEEDS, folds, making, picture, trials
from demos.lessons.pretraining.next_sentence.program import next_code
from demos.lessons.pretraining.wiring import count_on
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services

DRAWS = 10_000  # numbers of draws, from 0


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    reader = Reader(page.services)
    parts = picture(page) | making() | trials(len(reader.documents)) | folds()
    kept = {"next_a": "first", "next_b": "second", "next_put": "put", "next_draw": "draw", "next_bar": "bar"}
    kept |= {"next_tossed": "tossed", "next_seed": "seed"}
    page.keep(**{name: parts[part] for name, part in kept.items()})
    _wire_picture(page, reader, parts)
    _wire_making(page, reader, parts)
    _wire_trials(page, reader, parts)


def _wire_picture(page: Page, reader: Reader, parts: dict[str, Any]) -> None:
    chosen = [parts[name] for name in ("first", "second", "put", "draw", "bar")]
    shown = [parts[name] for name in ("first", "second", "bar", "answer", "sequence", "cases", "numbers", "code")]

    page.draw(
        by_component(parts, partial(drawn, reader)),
        chosen,
        shown,
        triggers=[choice.change for choice in chosen[:4]],
        show_progress="hidden",
    )
    parts["another"].click(
        None,
        [parts["draw"]],
        [parts["draw"], parts["put"]],
        js=f"(n) => [((n || 0) + 1) % {DRAWS}, {PUT[1]!r}]",
        api_visibility="private",
        show_progress="hidden",
    )
    page.on(
        [parts["ours"].click],
        partial(next_pair, reader),
        [parts["first"]],
        [parts["first"], parts["second"]],
        show_progress="hidden",
    )


def drawn(
    reader: Reader, sentence: Sentence, first: str, second: str, put: str, draw: float, bar: str
) -> dict[str, str]:
    """What tells of A and B; both boxes and which pair of the bar's they took, where they take a new one."""
    boxes = {}
    taken = bar_mark(sentence)
    if taken and taken != bar:  # the bar's own pair goes into the boxes once; what is typed there then stays
        first, second = sentence.text, sentence.text_pair
        boxes = {"first": first, "second": second, "bar": taken}
    cases = reader.four(sentence.model, first or "", second or "", clamp(draw, DRAWS))
    at = PUT.index(put) if put in PUT else 0
    spec = reader.services.pretrained(sentence.model).encoder.spec
    return boxes | {
        "answer": answer_html(cases[at]),
        "sequence": sequence_html(cases[at].encoding, "The input: A and B as one sequence of tokens"),
        "cases": gist_html(cases) + cases_html(cases, at),
        "numbers": numbers_html(cases, at),
        "code": next_code(spec, [(case.encoding.text, case.encoding.text_pair) for case in cases]),
    }


def bar_mark(sentence: Sentence) -> str:
    """A short mark of the bar's pair, "" where it holds one sentence; it travels in the link with the boxes."""
    if not sentence.text.strip() or not sentence.text_pair.strip():
        return ""
    both = f"{sentence.text}\n{sentence.text_pair}".encode("utf-8", "replace")
    return hashlib.sha256(both).hexdigest()[:8]


def next_pair(reader: Reader, first: str) -> list[str]:
    """Another true pair: the first two sentences of the document behind the one that `first` opens."""
    openings = [sentences[0] for sentences in reader.documents]
    number = openings.index(first) + 1 if first in openings else 0
    return list(reader.documents[number % len(openings)][:2])


def _wire_making(page: Page, reader: Reader, parts: dict[str, Any]) -> None:
    def show(sentence: Sentence, tossed: float) -> str:
        return made(reader, sentence.model, clamp(tossed, DRAWS))

    page.draw(show, [parts["tossed"]], [parts["made"]], show_progress="hidden")
    count_on(parts["toss"], parts["tossed"], DRAWS)


def _wire_trials(page: Page, reader: Reader, parts: dict[str, Any]) -> None:
    """A generator, so that it stops when its reader leaves."""

    def ask(model: str, seed: float) -> Iterator[dict[Any, str]]:
        for shown in reader.trials(model, 1 + clamp((seed or 1) - 1, SEEDS)):
            yield {parts[name]: value for name, value in shown.items()}

    outputs = [parts["status"], parts["results"]]
    page.on(
        [parts["ask"].click],
        ask,
        [page.model, parts["seed"]],
        outputs,
        concurrency_id="next-trials",
        concurrency_limit=1,
        trigger_mode="once",
        show_progress="hidden",
    )
    page.forget(outputs, [page.model.change, parts["seed"].change])  # they were about another model, or other pairs


def next_endpoint(services: Services) -> Callable[..., dict[str, Any]]:
    """The API's `next_sentence`."""

    def next_sentence(first: str, second: str, model: str = "") -> dict[str, Any]:
        """Whether `second` comes right after `first`, by the model's next-sentence head.

        "tokens" and their "segments"; "logits", "probabilities" and "losses" for the labels "IsNext" and "NotNext".
        Up to 120 tokens each; model is a catalogue key, empty for the default.
        """
        pretrained = services.pretrained(services.key(model))
        check_sentences(pretrained, first, second)
        encoding = encode(pretrained.tokenizer, first, second)
        answers = next_probabilities(pretrained, [(first, second)])
        return {
            "tokens": list(encoding.tokens),
            "segments": list(encoding.token_type_ids),
            **{
                name: dict(zip(LABELS, map(float, getattr(answers, name)[0]), strict=True))
                for name in ("logits", "probabilities", "losses")
            },
        }

    return next_sentence


PART = Part(
    tab="Next sentence",
    look=(
        "Two sentences go in as one input, and the state of [CLS] says whether the second came next. Change B, swap "
        "them, read one twice: see whether the model goes by order, or by what they are about."
    ),
    build=build,
    order=3,
    former="next",
)

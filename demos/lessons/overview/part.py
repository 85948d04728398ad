"""The overview: the way of a sentence through the model in one picture; each station links to its lesson."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.encoder.input import add_up, embedding_tables
from demos.bert.pretraining.guesses import masked, place_to_guess
from demos.bert.pretraining.lens import distributions, states
from demos.errors import UserError
from demos.files import read_beside
from demos.lessons.overview.figure import (
    MAX_ROWS,
    Classes,
    HiddenWord,
    exits_html,
    numbers_html,
    overview_html,
    rows_of,
)
from demos.lessons.overview.program import overview_code
from demos.page.folds import folds
from demos.page.larger_model.larger_model import small_model_html
from demos.page.lesson import IN_BROWSER, Lesson, Page, by_component
from demos.page.past_runs import give_back
from demos.page.services import Sentence, Services
from demos.widgets.scripted.scripted import scripted
from demos.widgets.token_picker.token_picker import SCRIPT

PICTURE = "overview-picture"
GUESSES = 5
CLASSES = 4  # shown, the likeliest


def build(page: Page) -> None:
    """Lay the lesson out and wire it."""
    give_back(page)
    gr.HTML("<p data-tours></p>", elem_id="overview-tours")
    token = gr.Number(-1, precision=0, minimum=-1, maximum=MAX_ROWS - 1, visible="hidden")
    with gr.Row(elem_classes="overview-row"):
        with gr.Column(scale=4, min_width=320):
            picture = scripted(SCRIPT + read_beside(__file__, "script.js"), PICTURE, "", elem_classes="picture")
        with gr.Column(scale=1, min_width=260):
            exits = gr.HTML("", elem_id="overview-exits")
    numbers, program = folds(__file__, "Prints all steps: pieces, input, layers, outputs")
    page.keep(token=token)
    parts = {"picture": picture, "exits": exits, "numbers": numbers, "program": program}
    show = by_component(parts, partial(drawn, page.services))
    page.draw(show, [token, page.trained], list(parts.values()), show_progress="hidden")
    picture.select(None, None, [token], js=f"() => insideBert.picked[{PICTURE!r}]()", **IN_BROWSER)


def drawn(services: Services, sentence: Sentence, token: float | None, trained: str) -> dict[str, Any]:
    """The picture, what its outputs are used for, the numbers and the program.

    `token` is followed through the picture and hidden for the guess; without one (-1), or beyond the picture's end, a
    word of the sentence is picked.
    """
    loaded, run = services.loaded(sentence.model), services.run(sentence)
    encoding, ledger = run.encoding, add_up(embedding_tables(loaded.model), run.encoding)
    picked = place_to_guess(encoding, loaded.tokenizer.mask_token, rows_of(encoding))
    chosen = int(token) if token is not None and 0 <= token < rows_of(encoding) else picked or 0
    hidden = hidden_word(services, sentence, chosen if not encoding.special_tokens_mask[chosen] else picked)
    vector = run.hidden_states[-1].mean(axis=0)
    return {
        "picture": overview_html(run, ledger, chosen),
        "exits": exits_html(run, hidden, vector, classes_of(services, sentence, trained)),
        "numbers": lambda: numbers_html(run, ledger),
        "program": lambda: overview_code(loaded.spec, encoding),
    }


def hidden_word(services: Services, sentence: Sentence, place: int | None) -> HiddenWord | None:
    """The best guesses for the token at `place`; None without a place, or for a model without a masked-word head."""
    spec = services.loaded(sentence.model).spec
    if place is None:
        return None
    try:
        pretrained = services.pretrained(spec.key)
    except UserError:
        return None
    encoding = services.run(sentence).encoding
    hidden = masked(pretrained.tokenizer, encoding, place)
    state = states(pretrained.encoder, [hidden])[0, 0, place].numpy()
    token, truth = encoding.tokens[place], encoding.input_ids[place]
    known = token != pretrained.tokenizer.mask_token
    target_id = truth if known else None
    (predicted,) = distributions(pretrained.word_logits, pretrained.tokenizer, state[None], GUESSES, target_id)
    return HiddenWord(
        place,
        token,
        predicted.best,
        pretrained.encoder.spec.title,
        len(pretrained.tokenizer),
        predicted.rank if known else 0,
        predicted.target.probability if known else 0.0,
        small_model_html(pretrained, services.store.catalogue),
    )


def classes_of(services: Services, sentence: Sentence, trained: str) -> Classes | None:
    """The prediction of the reader's newest single-sentence classifier for this sentence; None without a classifier."""
    if not trained or services.classifier(trained) is None:
        return None
    (probabilities,) = services.trainings.runs.predict(trained, [sentence.text])
    best = sorted(probabilities, key=probabilities.__getitem__, reverse=True)[:CLASSES]
    return Classes({label: probabilities[label] for label in best}, services.tuned(trained).spec.title)


LESSON = Lesson(
    slug="overview",
    order=0,
    only_bert=True,
    tab="Overview",
    question="What happens to a sentence in BERT?",
    look=(
        "Type your own sentence above, and read the picture from left to right: word pieces, vectors, layers, results. "
        "Point at a token to follow it; click a heading to see that step in detail."
    ),
    build=build,
)

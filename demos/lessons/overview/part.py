"""The overview: the way of a sentence through the model in one picture; each station links to its lesson."""

from dataclasses import dataclass
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
    overview_code,
    overview_html,
    rows_of,
)
from demos.page.larger_model.larger_model import small_model_html
from demos.page.lesson import IN_BROWSER, Lesson
from demos.page.past_runs import give_back
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Control, Layout, On, Shown, View, choice, unlinked
from demos.widgets.scripted.scripted import scripted
from demos.widgets.token_picker.token_picker import SCRIPT

PICTURE = "overview-picture"
GUESSES = 5
CLASSES = 4  # shown, the likeliest


def _token() -> Any:
    """The token that is followed through the picture and hidden for the guess; without one (-1), one is picked."""

    def make(_: Services) -> gr.Component:
        return gr.Number(-1, precision=0, minimum=-1, maximum=MAX_ROWS - 1, visible="hidden")

    return choice(-1, Control(make, lambda _, said: -1 if said is None else int(said)))


class Overview(View):
    @dataclass(frozen=True)
    class Choices:
        token: int = _token()
        trained: str = unlinked("")

    def lay_out(self, at: Layout) -> None:
        give_back(at.page)
        gr.HTML("<p data-tours></p>", elem_id="overview-tours")
        token = at.control("token")
        at.hold("trained", at.page.trained)
        with gr.Row(elem_classes="overview-row"):
            with gr.Column(scale=4, min_width=320):
                script = SCRIPT + read_beside(__file__, "script.js")
                at["picture"] = picture = scripted(script, PICTURE, "", elem_classes="picture")
            with gr.Column(scale=1, min_width=260):
                at["exits"] = gr.HTML("", elem_id="overview-exits")
        at.folds("Prints all steps: pieces, input, layers, outputs")
        picture.select(None, None, [token], js=f"() => insideBert.picked[{PICTURE!r}]()", **IN_BROWSER)

    def draw(self, on: On, c: Choices) -> Shown:
        """The picture, what its outputs are used for, the numbers and the program."""
        run, encoding = on.run, on.encoding
        ledger = add_up(embedding_tables(on.loaded.model), encoding)
        picked = place_to_guess(encoding, on.loaded.tokenizer.mask_token, rows_of(encoding))
        chosen = c.token if 0 <= c.token < rows_of(encoding) else picked or 0
        place = chosen if not encoding.special_tokens_mask[chosen] else picked
        hidden = hidden_word(on.services, on.sentence, place)
        vector = run.hidden_states[-1].mean(axis=0)
        return {
            "picture": overview_html(run, ledger, chosen),
            "exits": exits_html(run, hidden, vector, classes_of(on.services, on.sentence, c.trained), place is None),
            "numbers": lambda: numbers_html(run, ledger),
            "program": lambda: overview_code(on.loaded.spec, encoding),
        }


def hidden_word(services: Services, sentence: Sentence, place: int | None) -> HiddenWord | None:
    """The best guesses for the token at `place`; None without a place, or for a model without a masked-word head."""
    if place is None:
        return None
    try:
        pretrained = services.pretrained(sentence.model)
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
    """The prediction of the reader's classifier of single sentences, the bar's own or the newest; None without one."""
    trained = services.own_run(sentence.model) or trained
    if not trained or services.classifier(trained) is None:
        return None
    (probabilities,) = services.trainings.runs.predict(trained, [sentence.text])
    best = sorted(probabilities, key=probabilities.__getitem__, reverse=True)[:CLASSES]
    return Classes({label: probabilities[label] for label in best}, services.tuned(trained).spec.title)


def answer(services: Services, sentence: Sentence) -> Answer:
    """The number of tokens, special ones included, and the numbers that the wrong answers count."""
    run = services.run(sentence)
    _, tokens, width = run.hidden_states.shape
    words = len(f"{sentence.text} {sentence.text_pair}".split())
    pieces = tokens - sum(run.encoding.special_tokens_mask)
    return Answer(facts={"tokens": tokens, "width": width, "words": words, "pieces": pieces})


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
    view=Overview(),
)

"""Each question card has one right answer: on the bundled model, on BERT base where it is here, on a random BERT."""

from typing import Any

import pytest
import torch

from demos.bert.model.catalogue import BUNDLED, CATALOGUE, PREFERRED
from demos.bert.model.models import ModelStore, at_hand
from demos.bert.model.own_folder import with_folder
from demos.bert.pretraining.two_words import compare
from demos.lessons import discover
from demos.lessons.pretraining.two_words.part import FRAME, OPENING
from demos.page.questions import Answer, Question, questions
from demos.page.questions.reveal import reveal
from demos.page.services import Sentence, Services
from demos.page.view import On, View
from demos.page.your_questions.catalogue import offered_questions
from tests.bert.model.many_models import write_bert

SENTENCES: list[str] = offered_questions(discover())["sentences"]
VIEWS = {(lesson.slug, part.slug): part.view for lesson in discover() for part in lesson.parts}


@pytest.fixture(scope="module", params=[BUNDLED, PREFERRED])
def real(request: pytest.FixtureRequest, store: ModelStore) -> Services:
    """The services of an app that opens with the bundled model, or with BERT base, as `default_key` may choose."""
    if not at_hand(CATALOGUE[request.param]):
        pytest.skip(f"{request.param} is not on this machine")
    return Services(store, request.param)


@pytest.fixture(scope="module")
def random(tmp_path_factory: pytest.TempPathFactory) -> Services:
    """The same with a random BERT of three layers, with its heads for masked words and next sentences."""
    torch.manual_seed(0)
    folder = write_bert(tmp_path_factory.mktemp("random") / "bert", num_hidden_layers=3)
    catalogue = with_folder(CATALOGUE, folder, memory=1e9)
    return Services(ModelStore(catalogue), next(iter(catalogue)))


def opening(services: Services, sentence: Sentence, question: Question) -> list[Any]:
    """The values with which the question's part opens, of the choices that its computation reads."""
    if not question.choices:
        return []
    view = VIEWS[question.lesson, question.part]
    assert isinstance(view, View)
    choices = view.read(On(services, sentence), {})
    return [getattr(choices, name) for name in question.choices]


def right_answers(services: Services, text: str, question: Question) -> list[Any]:
    """What the card accepts: the names of right options, the tokens, or which of its offered numbers."""
    sentence = Sentence(text, "", services.default_model)
    choices = opening(services, sentence, question)
    revealed = reveal(services, sentence, question, "", *choices)  # all figures are filled in too
    if question.kind == "choice":
        assert {*revealed["keys"]} <= {answer.name for answer in question.answers}
        return list(revealed["keys"])
    assert question.compute is not None
    answer: Answer = question.compute(services, sentence, *choices)
    if question.kind == "token":
        return sorted(answer.tokens)
    offered = [answer.number, *answer.mistakes.values()]
    return [number for number in offered if reveal(services, sentence, question, str(number), *choices)["right"]]


def check(services: Services) -> None:
    """One right answer to each question; and where the card fixes it, no computation finds another one."""
    answers = {
        (question.name, text): right_answers(services, text, question)
        for question in questions().values()
        for text in SENTENCES
    }
    assert len(answers) == len(questions()) * len(SENTENCES) > 200
    assert {place: right for place, right in answers.items() if len(right) != 1} == {}
    fixed = {question.name: [question.right] for question in questions().values() if question.right}
    assert {place: right for place, right in answers.items() if right != fixed.get(place[0], right)} == {}


@pytest.mark.slow
def test_each_question_has_one_right_answer(real: Services) -> None:
    check(real)


@pytest.mark.slow
def test_a_token_need_not_give_its_largest_weight_to_itself(real: Services) -> None:
    """The fixed answer of this card, in the figure that it shows: mostly, it does not."""
    question = questions()["encoder", "self_attention"]
    assert question.compute is not None
    for text in SENTENCES:
        sentence = Sentence(text, "", real.default_model)
        answer = question.compute(real, sentence, *opening(real, sentence, question))
        assert answer.facts["share"] < 0.5


def test_the_first_two_words_turn_the_first_guess(real: Services) -> None:
    """As their question says of the model: “she” and “he”."""
    both = compare(real.pretrained(real.default_model), FRAME, (OPENING[0], OPENING[1]))
    assert [both.tokens[at] for at in both.probabilities.argmax(axis=1)] == ["she", "he"]


@pytest.mark.slow
def test_the_same_is_computed_on_a_random_bert(random: Services) -> None:
    check(random)

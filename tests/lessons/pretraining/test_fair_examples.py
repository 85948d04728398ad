"""The examples that Pre-training opens with are fair to the bundled model; the hard ones are offered as hard."""

from collections.abc import Sequence

import pytest

from demos.bert.model.catalogue import BUNDLED
from demos.bert.pretraining.cloze import LABEL_WORDS, PATTERNS, read_prompts
from demos.lessons.overview.part import Overview
from demos.lessons.pretraining.cloze.part import EXAMPLES as REMARKS
from demos.lessons.pretraining.cloze.part import Example as Remark
from demos.lessons.pretraining.corruption.part import CorruptText, Setup
from demos.lessons.pretraining.fill_mask.part import EXAMPLES, FAIR, Example, Filler
from demos.page.bar import DEFAULT_TEXT
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.pretraining.batches import Instance, collate
from demos.training.pretraining.model_parts import Parts

STATED = 10  # guesses that Fill the mask shows
FAR = 100


def rank(services: Services, text: str, answer: str) -> int:
    """The rank of `answer` at the text's [MASK]."""
    filler, sentence = Filler(services), Sentence(text, "", BUNDLED)
    truth = services.pretrained(BUNDLED).tokenizer.convert_tokens_to_ids(answer)
    return filler.layers(BUNDLED, filler.gaps(sentence, ""), FAIR, truth)[-1].rank


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.label)
def test_the_sentences_to_try(services: Services, example: Example) -> None:
    found = rank(services, example.text, example.answer)
    assert found > FAR if example.is_hard else found <= FAIR


@pytest.mark.parametrize("examples", [EXAMPLES, REMARKS])
def test_the_hard_ones_are_few(examples: Sequence[Example | Remark]) -> None:
    assert 0 < sum(example.is_hard for example in examples) < len(examples) / 2


def test_the_first_masked_word_is_among_the_guesses_shown_and_its_rank_is_said(services: Services) -> None:
    """Of the bar's own sentence: in Fill the mask, and on the first page."""
    filler, sentence = Filler(services), Sentence(DEFAULT_TEXT, "", BUNDLED)
    place = filler.layers(BUNDLED, filler.gaps(sentence, ""), FAIR)[-1]
    assert place.rank <= STATED
    said = " ".join(str(Overview().shown(services, sentence)["exits"]).split())
    assert f"<q>{place.target.token}</q> has rank <b>{place.rank}</b> of 30,522." in said
    assert "This is a small model, trained on 126 million tokens." in said


@pytest.mark.parametrize("example", REMARKS, ids=lambda example: example.label)
def test_the_remarks_to_try(services: Services, example: Remark) -> None:
    """Both of the page's rules, the more probable word and the larger ratio: correct, or wrong for a hard one."""
    texts = [example.text, ""]
    with_text, without = read_prompts(services.pretrained(BUNDLED), texts, [], PATTERNS[0], LABEL_WORDS[0])
    for log_odds in (with_text.log_odds, with_text.log_odds - without.log_odds):
        assert ((log_odds > 0) == example.is_positive) != example.is_hard


def test_most_words_of_the_first_corruption_are_among_the_first_guesses(services: Services) -> None:
    pretrained = services.pretrained(BUNDLED)
    on = On(services, Sentence("", "", BUNDLED))
    draw = Setup.of(on, CorruptText().read(on, {}))
    corruption = draw.corrupted(draw.generator())
    batch = collate([Instance(corruption, draw.encoding.token_type_ids, None)], 0)
    losses = Parts.of(pretrained).losses(batch)
    first = losses.logits.topk(FAIR).indices
    share = (first == losses.answers[:, None]).any(dim=1).float().mean()
    assert share >= 0.5

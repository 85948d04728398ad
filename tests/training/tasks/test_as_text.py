"""T5's form: an example of every task as a text, and the answer as another (Raffel et al. 2020, appendix D)."""

import pytest

from demos.bert.embeddings.agreement import Pair
from demos.training.settings import Settings
from demos.training.sources import SOURCES
from demos.training.tasks.classification.data import Example
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.entities.data import TaggedSentence
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.multi_label.data import LabelledSentence
from demos.training.tasks.multi_label.task import MultiLabel
from demos.training.tasks.multiple_choice.data import ChoiceExample
from demos.training.tasks.multiple_choice.task import MultipleChoice
from demos.training.tasks.question_answering.files import QuestionExample
from demos.training.tasks.question_answering.task import QuestionAnswering
from demos.training.tasks.registry import task_of
from demos.training.tasks.similarity.task import Similarity


def test_the_forms_are_those_of_the_paper() -> None:
    """SST-2, MRPC, STS-B and SQuAD as in its appendix D."""
    one, two = Classification(("negative", "positive")), Classification(("not_equivalent", "equivalent"), pairs=True)
    assert one.as_text(Example("a fine film", 1), "sst2") == ("sst2 sentence: a fine film", "positive")
    assert two.as_text(Example("It rains.", 1, "Rain falls."), "mrpc") == (
        "mrpc sentence1: It rains. sentence2: Rain falls.", "equivalent",
    )  # fmt: skip
    entails = Classification(("entailment", "contradiction"), pairs=True)
    assert entails.as_text(Example("It rains.", 1, "It is dry."), "mnli") == (
        "mnli hypothesis: It is dry. premise: It rains.", "contradiction",
    )  # fmt: skip
    for score, written in ((3.25, "3.2"), (5, "5.0"), (2.49, "2.4"), (2.51, "2.6")):
        assert Similarity.as_text(None, Pair("a", "b", score), "stsb") == ("stsb sentence1: a sentence2: b", written)  # type: ignore[arg-type]
    assert Similarity.as_text(None, Pair("It rains.", "", 7), "marks") == ("marks sentence: It rains.", "7")  # type: ignore[arg-type]
    question = QuestionExample("Who?", "Ada wrote it.", ("Ada",), 0)
    assert QuestionAnswering().as_text(question, "squad") == ("question: Who? context: Ada wrote it.", "Ada")


def test_what_the_paper_lacks_is_written_in_the_same_style() -> None:
    assert QuestionAnswering(unanswerable=True).as_text(QuestionExample("Who?", "It rains."), "squad")[1] == "no answer"
    tags = Entities(("O", "B-person", "I-person", "B-place"))
    sentence = TaggedSentence(("Ada", "Lovelace", "saw", "Rome"), (1, 2, 0, 3))
    assert tags.as_text(sentence, "names") == ("names in: Ada Lovelace saw Rome", "person: Ada Lovelace; place: Rome")
    assert tags.as_text(TaggedSentence(("It", "rains"), (0, 0)), "names")[1] == "none"
    topics = MultiLabel(("food", "price", "service"))
    assert topics.as_text(LabelledSentence("Cheap and kind.", (1, 2)), "topics") == (
        "topics sentence: Cheap and kind.", "price, service",
    )  # fmt: skip
    assert topics.as_text(LabelledSentence("We met there.", ()), "topics")[1] == "none"
    item = ChoiceExample("She sat.", "She", ("sang.", "flew."), 1)
    assert MultipleChoice(2).as_text(item, "choice") == (
        "choice beginning: She sat. She ending1: sang. ending2: flew.", "ending2",
    )  # fmt: skip


@pytest.mark.parametrize("key", list(SOURCES))
def test_every_data_set_of_the_app_can_be_read_in_it(key: str) -> None:
    data = SOURCES[key].load(0, 100)
    given, written = task_of(data, Settings()).as_text(data.train[0], key)
    assert given
    assert written

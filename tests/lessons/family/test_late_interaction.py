"""Token by token: what is drawn against transformers' own numbers, its program, and what can't be searched for."""

import re
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.family.late_interaction import part
from demos.page.services import Sentence, Services
from demos.training.data.lists import our_library
from tests.programs import printed
from tests.shown_values import shown_values

BAR = Sentence("The banker sat by the river.", "", "minilm")


def draw(services: Services, sentence: Sentence, query: str, place: int) -> dict[str, Any]:
    return shown_values(part.LateInteraction().shown(services, sentence, late_query=query, late_place=place))


def scores_of(bundled: LoadedModel, query: str) -> list[float]:
    """MaxSim of the query with every sentence, one pair after another."""

    def units(text: str) -> torch.Tensor:
        inputs = bundled.tokenizer(text, return_tensors="pt")
        names = bundled.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        kept = [at for at, name in enumerate(names) if name[0] != "[" and re.search(r"[^\W_]", name)]
        with torch.inference_mode():
            return torch.nn.functional.normalize(bundled.model(**inputs).last_hidden_state[0, kept], dim=1)

    asked = units(query)
    return [float((asked @ units(sentence).T).max(dim=1).values.sum()) for sentence in our_library().sentences]


@pytest.mark.slow
def test_the_lists_are_transformers(services: Services, bundled: LoadedModel) -> None:
    drawn = draw(services, BAR, part.QUERY, 2)
    expected = scores_of(bundled, part.QUERY)
    order = np.argsort(-np.array(expected), kind="stable")
    lines = printed(str(drawn["program"]))
    for line, at in zip(lines, order[:10], strict=True):
        score, sentence = line.split(" ", 1)
        assert float(score) == pytest.approx(expected[at], abs=2e-3)
        assert sentence == our_library().sentences[at]
    told = re.sub(r"<[^>]+>", "", str(drawn["told"]))
    assert float(re.search(r"MaxSim (\S+) ", told)[1]) == pytest.approx(expected[order[1]], abs=0.01)  # type: ignore[index]
    assert len(drawn["matrix"].layout.shapes) == len(drawn["matrix"].data[0].y)  # a frame in each row
    answer = part.answer(services, BAR, part.QUERY)
    assert answer.facts["by_token"] == our_library().sentences[order[0]]
    assert 0 < answer.facts["shared"] <= 10


@pytest.mark.slow
@pytest.mark.parametrize("query", ["rings of a 🪐 planet", "the café's “menu”"])
def test_the_program_leaves_out_what_the_page_leaves_out(services: Services, query: str) -> None:
    """A character outside the vocabulary is [UNK] to both, and counts; only what the tokenizer adds is left out."""
    drawn = draw(services, BAR, query, 1)
    best = float(re.search(r"MaxSim (\S+) ", re.sub(r"<[^>]+>", "", str(drawn["told"])))[1])  # type: ignore[index]
    assert float(printed(str(drawn["program"]))[0].split(" ", 1)[0]) == pytest.approx(best, abs=6e-3)


def test_an_empty_query_is_the_bars_sentence_and_one_without_a_word_is_told(services: Services) -> None:
    assert draw(services, BAR, " ", 1)["told"] == draw(services, BAR, BAR.text, 1)["told"]
    with pytest.raises(UserError, match="no word"):
        draw(services, BAR, "?!", 1)
    shown = draw(services, BAR, "<img src=x onerror=alert(1)>", 99)
    assert "<img" not in str(shown["told"])
    assert "<img" not in str(shown["numbers"])

"""The question about the layer at which two senses of a word are separated most clearly."""

from __future__ import annotations

from demos.bert.embeddings.word_occurrences import clean_word, contrast, read_uses, use_cosines, word_states
from demos.bert.model.generators import drained
from demos.counting import state_name
from demos.errors import UserError
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence, word: str, word_uses: str) -> Answer:
    """The layer with the largest gap between the cosines of one sense and of different senses; 0 is the input."""
    loaded = services.loaded(sentence.model)
    uses = read_uses(clean_word(word), word_uses)
    states = drained(word_states(loaded, uses))
    contrasts = contrast(use_cosines(states), [use.sense for use in uses])
    if contrasts is None:
        raise UserError("The list needs two senses with two sentences each, an empty line between the senses.")
    layers, layer = loaded.spec.num_layers, int(contrasts.gaps.argmax())
    key = "input" if layer == 0 else "early" if layer <= layers / 2 else "late"
    facts = {"layer": state_name(layer), "layers": layers, "gap": contrasts.gaps[layer], "first": contrasts.gaps[0]}
    return Answer(keys=frozenset({key}), facts=facts)

"""Heads for grammar: the annotated sentences, word weights against loops, and the scores of heads made by hand."""

import numpy as np
import pytest

from demos.bert.attention.grammar import (
    RELATIONS,
    best_place,
    measure_grammar,
    read_sentences,
    relation_of,
    word_weights,
)
from demos.bert.model.encoding import encode
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.files import read_beside
from demos.lessons.attention.grammar import part

SENTENCES = read_sentences(read_beside(part.__file__, "sentences.txt"))


def test_the_sentences_are_cut_into_the_words_that_the_tokenizer_sees(bundled: LoadedModel) -> None:
    assert 40 <= len(SENTENCES) <= 60
    for sentence in SENTENCES:
        encoding = encode(bundled.tokenizer, sentence.text)
        spans: dict[int, list[int]] = {}
        for word, (start, end) in zip(encoding.word_index, encoding.offsets, strict=True):
            if word is not None:
                spans.setdefault(word, [start, end])[1] = end
        assert tuple(sentence.text[start:end] for start, end in spans.values()) == sentence.words
        assert len(set(sentence.pairs)) == len(sentence.pairs)
        assert all(dependent != head for _, dependent, head in sentence.pairs)
        assert all(head < dependent for relation, dependent, head in sentence.pairs if relation == "coreference")
        assert all(dependent < head for name, dependent, head in sentence.pairs if name in ("determiner", "possessive"))
    counts = [sum(one == name for sentence in SENTENCES for one, *_ in sentence.pairs) for name in RELATIONS]
    assert min(counts) >= 25


@pytest.mark.parametrize("line", ["subject dog#2 barks", "colour dog barks", "subject cat barks"])
def test_an_annotation_that_names_no_word_or_relation_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"dog#2|colour|cat"):
        read_sentences(f"The dog barks.\n{line}")


def test_word_weights_are_sums_to_a_word_and_means_from_it(tiny: LoadedModel) -> None:
    run = run_model(tiny, [encode(tiny.tokenizer, "Unflappable bankers pay.")])[0]
    found = word_weights(run.attentions, run.encoding)
    index = run.encoding.word_index
    assert len(index) > found.shape[-1] + 2  # a word is split
    for a in range(found.shape[-1]):
        for b in range(found.shape[-1]):
            from_a = [i for i, word in enumerate(index) if word == a]
            to_b = [j for j, word in enumerate(index) if word == b]
            loops = sum(run.attentions[..., i, j] for i in from_a for j in to_b) / len(from_a)
            np.testing.assert_allclose(found[..., a, b], loops, rtol=1e-5)


def test_a_head_that_follows_the_annotation_is_found_and_the_offset_is_the_baseline() -> None:
    sentences = read_sentences("A dog barks.\ndeterminer A dog\nThe old dog sleeps.\ndeterminer The dog\n" * 2)
    strongest = []
    for sentence in sentences:
        words = np.zeros((2, 3, len(sentence.words)), dtype=int)  # all heads lead to the first word
        words[1, 2] = [2 if "old" in sentence.words else 1, *[0] * (len(sentence.words) - 1)]
        strongest.append(words)
    relation = relation_of("determiner", sentences, strongest)
    best = relation.best
    assert (best.direction, best.layer, best.head, best.accuracy) == (0, 1, 2, 1.0)
    assert best_place(relation.hits[1:])[1:] == (0, 0)  # from the noun, the first word is right
    assert relation.accuracy[0, 1, 2] == 1.0
    assert relation.accuracy[0].sum() == 1.0
    assert (relation.offset, relation.baseline) == (1, 0.5)
    assert relation.held_out == 1.0


def test_the_bundled_model_has_heads_that_beat_every_offset(bundled: LoadedModel) -> None:
    relations = drained(measure_grammar(bundled, SENTENCES))
    for name in ("object", "coreference", "determiner"):
        assert relations[name].held_out > relations[name].baseline + 0.15, name
    assert all(relation.held_out <= relation.best.accuracy for relation in relations.values())

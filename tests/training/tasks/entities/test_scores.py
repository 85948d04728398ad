"""Entity scores against seqeval on random tag sequences, and what becomes of each entity against counts by hand."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics import classification_report
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB2

from demos.training.tasks.entities.scores import EntityScore, score_entities, spans_of, ways_of

TYPES = ("LOC", "ORG", "PER")
TAGS = ["O", *(f"{prefix}-{kind}" for kind in TYPES for prefix in "BI")]

lengths = st.lists(st.integers(1, 9), min_size=1, max_size=6)
corpora = lengths.flatmap(
    lambda sizes: st.tuples(
        *[st.tuples(*[st.lists(st.sampled_from(TAGS), min_size=n, max_size=n) for n in sizes]) for _ in range(2)]
    )
)


@given(corpora)
@settings(max_examples=60, deadline=None)
def test_scores_are_seqevals_in_both_modes(corpus: tuple[tuple[list[str], ...], tuple[list[str], ...]]) -> None:
    true, found = (list(side) for side in corpus)
    for truth in true:
        assert [(kind, start, end - 1) for start, end, kind in spans_of(truth)] == get_entities(truth)
    for strict in (False, True):
        if not any(spans_of(tags, strict) for tags in [*true, *found]):
            continue  # seqeval has no report of nothing
        options = {"mode": "strict", "scheme": IOB2} if strict else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = classification_report(true, found, output_dict=True, zero_division=0, **options)
        ours = score_entities(true, found, TYPES, strict)
        for one in (ours.total, *ours.types):
            row = report.get(one.name or "micro avg")
            if row is None:  # a type that is nowhere
                assert (one.true, one.found) == (0, 0)
                continue
            assert (one.precision, one.recall, one.f1) == pytest.approx(
                (row["precision"], row["recall"], row["f1-score"])
            )
            assert one.true == row["support"]


def test_an_inside_without_a_beginning_begins_an_entity_unless_strict() -> None:
    tags = ["O", "I-PER", "I-PER", "I-LOC", "B-LOC"]
    assert spans_of(tags) == [(1, 3, "PER"), (3, 4, "LOC"), (4, 5, "LOC")]
    assert spans_of(tags, strict=True) == [(4, 5, "LOC")]


def test_nothing_there_and_nothing_found_is_zero_and_no_error() -> None:
    scores = score_entities([["O"]], [["O"]], TYPES)
    assert scores.total == EntityScore("", 0.0, 0.0, 0.0, 0, 0, 0)


def test_what_became_of_each_entity() -> None:
    true = [["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG", "I-ORG", "O", "B-PER", "O"], ["O", "O", "O"]]
    found = [["B-PER", "I-PER", "O", "B-ORG", "O", "B-ORG", "O", "O", "O", "O"], ["B-LOC", "O", "O"]]
    ways = {one.name: one for one in ways_of(true, found, TYPES)}
    counts = {name: (w.right, w.wrong_type, w.wrong_border, w.missed, w.invented) for name, w in ways.items()}
    assert counts == {"PER": (1, 0, 0, 1, 0), "LOC": (0, 1, 0, 0, 1), "ORG": (0, 0, 1, 0, 0)}


@given(corpora)
@settings(max_examples=30, deadline=None)
def test_every_true_entity_becomes_one_thing(corpus: tuple[tuple[list[str], ...], tuple[list[str], ...]]) -> None:
    true, found = corpus
    scores = score_entities(true, found, TYPES)
    for score, way in zip(scores.types, ways_of(true, found, TYPES), strict=True):
        assert way.right + way.wrong_type + way.wrong_border + way.missed == score.true
        assert way.right == score.hits
        assert way.right + way.invented <= score.found

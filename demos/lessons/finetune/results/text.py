"""The effect of a training in words and tables: maps, heads that changed, an error's tokens, calibration (HTML)."""

import itertools
from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from demos.bert.attention.matrix_labels import joined
from demos.bert.attention.saliency import STEPS, agreement, count_words
from demos.bert.embeddings.maps import Layout, own_share
from demos.bert.model.encoding import Encoding
from demos.figures.palette import swatch
from demos.figures.scores_text import LABEL_LENGTH, one_line
from demos.figures.short_text import short
from demos.lessons.finetune.results.figure import FEW
from demos.templates import signed, templates
from demos.training.metrics import Calibration
from demos.training.results.evidence import METHODS, RANDOM, Evidence
from demos.training.tasks.classification.data import Example

TEXT = templates(__file__)
UNMOVED = 5e-4  # a share of attention below this shows as 0.0%
SHOWN_WORDS = 40


def map_heading(title: str, layout: Layout, classes: np.ndarray, chance: float) -> str:
    """A map's name and its number: the share of each point's nearest neighbors that have its class."""
    return TEXT.heading(title, own_share(layout.nearest, classes).mean(), layout.nearest.shape[1], chance)


def maps_summary(before: Layout, after: Layout, classes: np.ndarray) -> str:
    """Whether the classes came apart, measured."""
    return TEXT.maps_summary(*(own_share(layout.nearest, classes).mean() for layout in (before, after)))


def maps_table(layouts: Sequence[Layout], classes: np.ndarray, labels: Sequence[str]) -> str:
    """The neighbours' number class by class, before and after; and how much of the vectors each map shows."""
    shares = [own_share(layout.nearest, classes) for layout in layouts]
    rows = [
        (label, int(members.sum()), [share[members].mean() for share in shares])
        for number, label in enumerate(labels)
        if (members := classes == number).any()
    ]
    explained = [layout.explained.sum() for layout in layouts]
    return TEXT.maps_table(["before", "after"][: len(layouts)], rows, explained)


def attention_summary(heads: np.ndarray, layer: int, head: int, text: str, full: float | None = None) -> str:
    """The head that changed most, and each layer's change: heads [L, A]. `full` is the end of both pictures' scale."""
    if heads.max() < UNMOVED:
        return TEXT.nothing_moved()
    layers = heads.mean(axis=1)
    return TEXT.attention(
        layer=layer,
        head=head,
        share=heads[layer, head],
        layers=layers.tolist(),
        most=int(layers.argmax()),
        least=int(layers.argmin()),
        sentence=short(text, 90),
        full=full,
    )


def error_name(example: Example, truth: str, answer: str, probability: float) -> str:
    """An error in a menu: plain text, which the menu escapes."""
    answer, truth = short(answer, LABEL_LENGTH), short(truth, LABEL_LENGTH)
    return f"{probability:.0%} {answer}, true class {truth}: “{short(one_line(example), 110)}”"


def own_name(text: str, pair: str) -> str:
    """The bar's sentence in the menu of sentences: plain text, which the menu escapes."""
    return f"At the top of the page: “{short(' / '.join(filter(None, (text.strip(), pair.strip()))), 110)}”"


def words_html(evidence: Evidence, labels: Sequence[str]) -> str:
    """One row per word, one bar per method: blue for the prediction, brown for the other class; the sums below."""
    encoding, values = evidence.encoding, evidence.by_word  # [methods, words]
    widest = np.abs(values).max(axis=1) + 1e-12
    words = written_words(encoding)
    second = sum(word is not None for word in set(encoding.word_index[: encoding.sentence_b_start]))
    rows = [
        {
            "word": words[at],
            "second": 0 < second == at,
            "cells": [
                {
                    "value": _signed(value),
                    "length": abs(value) / widest[method] / 2,
                    "minus": value < 0,
                    "top": at in evidence.rationales[method].words,
                }
                for method, value in enumerate(values[:, at])
            ],
        }
        for at in range(min(len(words), SHOWN_WORDS))
    ]
    special = np.array([word is None for word in encoding.word_index])
    sums = [evidence.gradient, evidence.integrated]
    return TEXT.words_table(
        methods=METHODS,
        rows=rows,
        count=len(words),
        special=[_signed(values[special].sum()) for values in sums],
        sums=[_signed(values.sum()) for values in sums],
        differences=[_signed(evidence.margin - base) for base in (evidence.empty, evidence.masked)],
        answer=short(labels[evidence.answer], LABEL_LENGTH),
        other=short(labels[evidence.other], LABEL_LENGTH),
        margin=evidence.margin,
        steps=STEPS,
        top=len(evidence.rationales[0].words),
        swatches=[swatch("signed", 0.875), swatch("signed", 0.125)],
    )


def decided_html(evidence: Evidence, labels: Sequence[str], labelled: bool) -> str:
    """The prediction, whether the methods agree, and the prediction without their top words and by these alone.

    `labelled`: the other class is the true one; else the second most probable.
    """
    names = [short(label, LABEL_LENGTH) for label in labels]
    words, values = written_words(evidence.encoding), evidence.by_word
    ranks = rankdata(-values, axis=1, method="min").astype(int)  # [methods, words], 1 the first
    apart = int(np.ptp(ranks, axis=0).argmax())
    pairs = [
        (METHODS[first], METHODS[second], _signed(ranked.spearman), _signed(ranked.kendall))
        for first, second in itertools.combinations(range(len(METHODS)), 2)
        if (ranked := agreement(values[first], values[second])).spearman is not None and ranked.kendall is not None
    ]
    rationales = [
        {
            "name": name,
            "sides": [
                {"fall": _signed(evidence.probability - chance), "chance": chance, "label": names[label]}
                for chance, label in (
                    (rationale.without, rationale.class_without),
                    (rationale.alone, rationale.class_alone),
                )
            ],
        }
        for name, rationale in zip((*METHODS, TEXT.at_random(RANDOM)), evidence.rationales, strict=True)
    ]
    return TEXT.decided(
        answer=names[evidence.answer],
        other=names[evidence.other],
        probability=evidence.probability,
        labelled=labelled,
        error=abs(evidence.integrated.sum() - (evidence.margin - evidence.masked)),
        first=[words[int(at)] for at in values.argmax(axis=1)],
        methods=METHODS,
        apart=words[apart] if np.ptp(ranks, axis=0).any() else "",
        ranks=ranks[:, apart].tolist(),
        count=len(words),
        pairs=pairs,
        rationales=rationales,
    )


def written_words(encoding: Encoding) -> list[str]:
    """The words by their running number, their pieces joined."""
    pieces: list[list[str]] = [[] for _ in range(count_words(encoding))]
    for token, word in zip(encoding.tokens, encoding.word_index, strict=True):
        if word is not None:
            pieces[word].append(token)
    return list(map(joined, pieces))


def tokens_table(evidence: Evidence) -> str:
    """Each method's values, one row per token; leave-one-out has one for a word."""
    rows, seen = [], set()
    for at, token in enumerate(evidence.encoding.tokens):
        word = evidence.encoding.word_index[at]
        values = [_signed(row[at], 4) for row in (evidence.gradient, evidence.integrated)]
        rows.append((token, [*values, "" if word is None or word in seen else _signed(evidence.left_out[word], 4)]))
        seen.add(word)
    return TEXT.tokens_table(METHODS, rows)


def calibration_summary(calibration: Calibration, noun: str, stored: int, total: int) -> str:
    """The expected calibration error, and whether the model is overconfident or underconfident."""
    bins = [bar for bar in calibration.bins if bar.count]
    counts, confidence, accuracy = np.array([(bar.count, bar.confidence, bar.accuracy) for bar in bins]).T
    count = counts.sum()
    sure, right = (np.average(shares, weights=counts) for shares in (confidence, accuracy))
    # A perfectly calibrated model: each answer is correct with a probability equal to its confidence.
    spread = counts * confidence * (1 - confidence)
    room = max(0.02, 1.96 * np.sqrt(spread.sum()) / count)
    return TEXT.calibration(
        error=calibration.error,
        count=int(count),
        noun=noun,
        chance=np.sqrt(2 / np.pi * spread).sum() / count,  # E|X| of a normal X, bar by bar
        lean=int(sure - right > room) - int(right - sure > room),
        sure=sure,
        right=right,
        thin=int((counts < FEW).sum()),
        bars=len(bins),
        few=FEW,
        stored=stored,
        total=total,
    )


def _signed(value: float, digits: int = 2) -> str:
    return signed(value, f"+.{digits}f")

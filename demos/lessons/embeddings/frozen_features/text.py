"""Frozen, then a classifier, in words: the recipe with its numbers, what the bars say, the tables (HTML, escaped)."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np

from demos.bert.embeddings.pooling import Choice
from demos.figures.cosines import short
from demos.figures.scores_text import chances_html
from demos.figures.tables import column_heads, scrolling_table
from demos.lessons.embeddings.frozen_features.figure import Bar, feature_name
from demos.training.data.labelled import OWN_SPLIT, Labelled, Split
from demos.training.data.sst2 import PUBLISHED
from demos.training.frozen_classifier import Fit, chosen
from demos.training.metrics import majority

SHOWN_NUMBERS = 4


def _percent(value: float) -> str:
    return f"{value:.3f}"


def recipe_html(sentence: str, weights: int, vector: np.ndarray, fit: Fit, chances: Mapping[str, float]) -> str:
    """The sentence bar's own sentence through the recipe: a frozen BERT, its vector [D], the classifier, the answer."""
    shown = ", ".join(f"{value:.2f}".replace("-", "−") for value in vector[:SHOWN_NUMBERS])
    classes = len(chances)
    # Of two classes scikit-learn learns one row of weights: the other's is its opposite.
    learned = fit.pipeline[-1].coef_.size + fit.pipeline[-1].intercept_.size
    steps = (
        ("sentence", f"<q>{html.escape(short(sentence, 90))}</q>", ""),
        ("frozen BERT", f"<b>{weights:,}</b> weights, none moves", " frozen"),
        ("vector", f"<b>{len(vector):,}</b> numbers: {shown}, …", ""),
        ("logistic regression", f"<b>{learned:,}</b> weights, learned", " learned"),
    )
    boxes = "".join(f'<li class="box{kind}"><h4>{name}</h4><p>{text}</p></li>' for name, text, kind in steps)
    answer = f'<li class="box answer"><h4>class, one of {classes}</h4>{chances_html(chances, list(chances), sentence)}'
    return f'<ol class="recipe-steps">{boxes}{answer}</li></ol>'


def data_html(data: Labelled, split: Split) -> str:
    """How many sentences are learned from and held out, and how that was decided."""
    how = "as the file splits them" if split.key == OWN_SPLIT else f"drawn class by class with seed {split.key}"
    names = ", ".join(html.escape(short(label, 24)) for label in data.labels[:6])
    more = f" and {len(data.labels) - 6} more" if len(data.labels) > 6 else ""
    notes = "".join(f'<p class="aside">{html.escape(note)}</p>' for note in data.notes)
    return (
        f"<p><b>{len(split.train):,}</b> sentences to learn from, <b>{len(split.test):,}</b> held out, {how}. "
        f"{len(data.labels)} classes: {names}{more}.</p>{notes}"
    )


def bars_html(bars: Sequence[Bar], picked: int, held_out: int, guide: bool) -> str:
    """What the bar at `picked` says against guessing (the first) and the words (the second); the guide's numbers."""
    guess, words, bar = bars[0], bars[1], bars[picked]
    low, high = bar.interval or (bar.accuracy, bar.accuracy)
    published = ", ".join(f"{name} {value:.3f}" for name, value in PUBLISHED)
    beside = (
        "The pale bars are not measured here: the guide publishes them, the first two of its own 2,000 rows of this "
        "file, the last two of models fine-tuned on all of SST-2."
        if guide
        else f"“A Visual Guide to Using BERT for the First Time” publishes for SST-2: {published}."
    )
    return (
        f"<p><b>{html.escape(bar.name)}</b>, gets <b>{bar.accuracy:.1%}</b> of {held_out:,} held-out sentences right: "
        f"{_points(bar.accuracy - words.accuracy)} than the words alone, {_points(bar.accuracy - guess.accuracy)} than "
        f"guessing. The line on its bar: from so few sentences, anything from {low:.0%} to {high:.0%} is likely (95 %)."
        f'</p><p class="aside">{html.escape(beside)}</p>'
    )


def _points(gap: float) -> str:
    return f"{abs(gap) * 100:.1f} points {'more' if gap >= 0 else 'less'}"


def tuned_html(state: str, held_out: int, title: str = "") -> str:
    """What the page says of a model fine-tuned here: there is none, it can be compared, or why it can't."""
    said = {
        "none": "And if BERT itself may learn? Train it on the emotion sentences in the tab <b>Fine-tune</b>: its bar "
        "then stands here too.",
        "apart": "And if BERT itself may learn? Train it on a file in the tab <b>Fine-tune</b>. That draws test "
        "sentences of its own, so its accuracy stands there.",
        "other": "Your fine-tuned model learned another task, or other classes: it can't be scored on these sentences.",
        "drawn": "Your fine-tuned model may have learned from some of these held-out sentences: choose the file's own "
        "split, and its bar stands here too.",
        "here": f"Green is the model you fine-tuned here ({html.escape(title)}), asked about the same {held_out:,} "
        "sentences. There as much of BERT moved as your recipe let.",
    }
    return f"<p>{said[state]}</p>"


def grid_html(fits: Mapping[Choice, Fit], total: int, deepest: int, held_out: int) -> str:
    """What cross-validation picks and what that is worth, against the choice that the held-out sentences would pick."""
    best = chosen(fits)
    lucky = max(fits, key=lambda choice: fits[choice].scores.accuracy)
    low, high = fits[best].interval
    some = "" if len(fits) == total else f" ({len(fits)} of {total} so far)"
    luck = (
        "The same choice is also the best on the held-out sentences, which nobody could know before looking."
        if fits[lucky].scores.accuracy == fits[best].scores.accuracy
        else f"The best on the held-out sentences is {html.escape(feature_name(lucky, deepest))} with "
        f"{_percent(fits[lucky].scores.accuracy)}, but to pick by that is cheating: of {len(fits)} tries one is lucky."
    )
    return (
        f"<p>Cross-validation picks{some} <b>{html.escape(feature_name(best, deepest))}</b> "
        f"({fits[best].dimension:,} numbers): <b>{_percent(fits[best].cross_validated)}</b> on the training part, and "
        f"<b>{_percent(fits[best].scores.accuracy)}</b> [{low:.2f}–{high:.2f}] on the {held_out:,} held out. "
        f"{luck}</p>"
    )


def numbers_html(
    named: Sequence[tuple[str, Fit]], fits: Mapping[Choice, Fit], data: Labelled, split: Split, deepest: int
) -> str:
    """Two tables: what the bars show, and every choice that was fitted, the best cross-validated first."""
    truth = data.targets[split.test].tolist()
    label, share = majority(data.targets[split.train].tolist(), truth, len(data.labels))
    head = column_heads(
        ["", "numbers", "C", "cross-validated", "± over folds", "held out", "95 % interval", "macro F1"]
    )

    def row(name: str, fit: Fit) -> str:
        strength = "–" if np.isnan(fit.strength) else f"{fit.strength:g}"
        return (
            f'<tr><th scope="row" class="sentence">{html.escape(name)}</th><td>{fit.dimension or "–"}</td>'
            f"<td>{strength}</td><td>{_percent(fit.cross_validated)}</td><td>{np.std(fit.folds):.3f}</td>"
            f"<td><b>{_percent(fit.scores.accuracy)}</b></td><td>{fit.interval[0]:.3f}–{fit.interval[1]:.3f}</td>"
            f"<td>{fit.scores.macro_f1:.3f}</td></tr>"
        )

    caption = (
        f"{html.escape(data.name)}: {len(split.train):,} to learn from, {len(split.test):,} held out; always "
        f"“{html.escape(short(data.labels[label], 24))}” is right for {share:.3f} of them"
    )
    tables = scrolling_table(caption, head, "".join(row(name, fit) for name, fit in named), kind="lesson-table")
    if len(fits) > 1:
        ordered = sorted(fits, key=lambda choice: -fits[choice].cross_validated)
        body = "".join(row(feature_name(choice, deepest), fits[choice]) for choice in ordered)
        tables += scrolling_table("Every vector fitted so far, the best cross-validated first", head, body,
                                  kind="lesson-table")  # fmt: skip
    return tables

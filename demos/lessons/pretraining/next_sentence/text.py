"""Next sentences in words: what a model seems to go by, and how it did on the trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from demos.bert.pretraining.next_documents import KINDS, LATER, OTHER, SWAPPED, TRUE, Score
from demos.bert.pretraining.next_sentence import LABELS
from demos.figures.numbers import percent
from demos.lessons.pretraining.next_sentence.figure import Case, bar

Interval = tuple[float, float]
NAMES = {
    TRUE: ("the next sentence", LABELS[0]),
    OTHER: ("another document’s sentence", LABELS[1]),
    SWAPPED: ("swapped: the next sentence, then A", LABELS[1]),
    LATER: ("a later sentence of the same document", LABELS[1]),
}


def gist_html(cases: Sequence[Case]) -> str:
    """What the model goes by here, read off four cases: true next, random, swapped, the same twice."""
    true, random, swapped, same = (case.is_next for case in cases)
    if true < 0.5:
        said = (
            f"It takes B for no next sentence to begin with (IsNext {percent(true)}), so nothing can be read off the "
            "other three; try another pair."
        )
    else:
        topic, order = random < 0.5, swapped < 0.5
        moved = (
            f"A random sentence takes IsNext from {percent(true)} to {percent(random)}, swapping to {percent(swapped)}"
        )
        if topic and order:
            goes = "here both count, what the sentences are about and which comes first"
        elif topic:
            goes = "here it goes by what the sentences are about, not by which comes first"
        elif order:
            goes = "here order counts, and what they are about doesn’t"
        else:
            goes = "here it calls almost anything next"
        copied = "counts as next too" if same >= 0.5 else "does not count as next"
        said = f"{moved}: <b>{goes}</b>. The same sentence twice {copied} ({percent(same)})."
    return f'<p class="next-gist">{said}</p>'


def progress_html(done: int, total: int) -> str:
    """How far the trials are, in one line."""
    return f'<p role="status">{done} of {total} pairs asked …</p>'


def trials_html(scores: Sequence[Score], task: Interval, intervals: Mapping[str, Interval]) -> str:
    """The answers to each kind of pair, counted, with 95 % intervals of the share that is right.

    `task` is the interval of BERT's own task, the kinds TRUE and OTHER together.
    """
    by_kind = {score.kind: score for score in scores}
    rows = "".join(_row(by_kind[kind], intervals[kind]) for kind in KINDS if kind in by_kind)
    head = (
        '<th scope="col">second sentence</th><th scope="col" class="wide">right answer</th>'
        '<th scope="col">said IsNext</th><th scope="col">said NotNext</th><td class="wide"></td>'
        '<th scope="col">right</th><th scope="col">95 % interval</th><th scope="col" class="wide">mean IsNext</th>'
    )
    return (
        f'{_told(by_kind, task)}<div class="next-scroll" tabindex="0" role="region" aria-label="Answers counted">'
        f'<table class="next-trials"><caption>The line in the bars is guessing, 50%.</caption><thead><tr>{head}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _row(score: Score, interval: Interval) -> str:
    name, label = NAMES[score.kind]
    share = score.right / score.count
    said = (score.said_next, score.count - score.said_next)
    cells = "".join(
        f'<td class="{"hit" if label == LABELS[column] else "miss"}">{count}</td>' for column, count in enumerate(said)
    )
    return (
        f'<tr><th scope="row">{name}</th><td class="wide">{label}</td>{cells}'
        f'<td class="next-bar half wide">{bar(share)}</td><td><b>{share:.0%}</b></td>'
        f'<td>{interval[0]:.0%} to {interval[1]:.0%}</td><td class="wide">{percent(score.mean)}</td></tr>'
    )


def _told(by_kind: Mapping[str, Score], task: Interval) -> str:
    true, other, swapped, later = (by_kind[kind] for kind in KINDS)
    right, count = true.right + other.right, true.count + other.count
    order = (
        "So it can’t tell which of two neighbours came first."
        if swapped.said_next > swapped.count / 2
        else "So it notices more often than not which of two neighbours came first."
    )
    return (
        f'<p class="next-gist">On BERT’s own task, the first two rows, it is right for <b>{right} of {count} pairs, '
        f"{right / count:.0%}</b> (95 % interval {task[0]:.0%} to {task[1]:.0%}); guessing gets 50%, and BERT’s "
        f"authors report 97 to 98% for theirs, on much longer spans. Of {swapped.count} swapped pairs it calls "
        f"<b>{swapped.said_next} IsNext</b>, of {later.count} with a later sentence <b>{later.said_next}</b>. "
        f"{order}</p>"
    )

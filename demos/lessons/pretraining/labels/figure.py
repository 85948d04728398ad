"""Inputs beside their labels, with where each label comes from, and the answer that follows from them (HTML)."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from demos.bert.model.encoding import Encoding
from demos.bert.pretraining.free_labels import FreeLabels
from demos.figures.short_text import short_html
from demos.figures.tables import column_heads, scrolling_table
from demos.figures.token_chips import visible
from demos.lessons.pretraining.figure_kinds import MARKS, NAMES

AROUND = 5  # tokens on either side of the one asked about
FEW = 5  # masked words above; the fold has all
CLOSE = set(".,;:!?)'’")  # these stand right behind a word
LENGTH = 160  # characters of a sentence
SUPERVISED, UNSUPERVISED, SELF = "supervised", "unsupervised", "self-supervised"
VOTES = (SUPERVISED, UNSUPERVISED, SELF)
VERDICTS = {
    SUPERVISED: "<b>You said supervised.</b> Half right: there are labels and a loss. But nobody supervised.",
    UNSUPERVISED: "<b>You said unsupervised.</b> Half right: nobody labelled. But there are labels, {count} of them.",
    SELF: "<b>You said self-supervised.</b> So says the table.",
}


@dataclass(frozen=True)
class Given:
    """An example of a fine-tuning data set, with the label it was given."""

    text: str
    label: str


def labels_html(found: FreeLabels, read: Sequence[str], given: Given) -> str:
    """Rows of input, label and where the label comes from: pre-training's, then fine-tuning's. `read` has n tokens."""
    places = found.corruption.chosen
    rows = "".join(masked_row(found, read, int(place)) for place in _few(found))
    left = len(places) - min(FEW, len(places))
    more = (
        f'<tr class="more"><td colspan="3">… and {left} more masked words, all under “The numbers”</td></tr>'
        if left
        else ""
    )
    order = "IsNext" if found.is_next else "NotNext"
    why = "the text: so it goes on" if found.is_next else "the draw: B is of another text"
    own = short_html(f"{found.first} {found.second}" if found.is_next else found.first, LENGTH)
    return _table(
        "Pre-training",
        rows
        + more
        + f"<tr><td><b>A</b> {short_html(found.first, LENGTH)}<br><b>B</b> {short_html(found.second, LENGTH)}</td>"
        f'<td class="label">{order}</td><td class="free">{why}</td></tr>',
    ) + _table(
        "Fine-tuning, for instance on opinions",
        f'<tr><td>{html.escape(given.text)}</td><td class="label">{html.escape(given.label)}</td>'
        '<td class="asked">a person, who said so: here whoever wrote it</td></tr>'
        f'<tr><td>{own}</td><td class="label">?</td><td class="asked">nobody yet: it is not in the text</td></tr>',
    )


def masked_row(found: FreeLabels, read: Sequence[str], place: int) -> str:
    """One masked word: what BERT reads around it, the true token, and its kind."""
    kind = int(found.corruption.kinds[place])
    start, end = max(place - AROUND, 0), min(place + AROUND + 1, len(read))
    while start < place and read[start] in CLOSE:  # the end of what is not shown
        start += 1
    before, after = _joined(found.encoding, read, start, place), _joined(found.encoding, read, place + 1, end)
    badge = f'<span class="{NAMES[kind]} labels-place">{MARKS[kind]} {visible(read[place])}</span>'
    around = f"{'… ' if start else ''}{before} {badge} {after}{' …' if end < len(read) else ''}"
    return (
        f'<tr><td>{around}</td><td class="label">{visible(found.encoding.tokens[place])}</td>'
        '<td class="free">the text: it stood there</td></tr>'
    )


def counts_html(found: FreeLabels) -> str:
    """How many labels this text gives by itself, and how many without an annotator for fine-tuning."""
    words = len(found.corruption.chosen)
    return (
        '<div class="labels-counts">'
        f"<p><b>{found.count}</b><span>labels for pre-training in one pass: {words} of "
        f"{len(found.encoding)} tokens, and 1 next sentence. Nobody was asked; the next pass draws others.</span></p>"
        "<p><b>0</b><span>labels for fine-tuning without somebody who reads the text and decides.</span></p></div>"
    )


def answer_html(found: FreeLabels, vote: str | None) -> str:
    """The answer, argued from the rows above; `vote` is what the reader said, or nothing."""
    words = len(found.corruption.chosen)
    verdict = VERDICTS[vote].format(count=found.count) if vote in VERDICTS else ""
    order = "B came next" if found.is_next else "B is of another text"
    return (
        f'<div class="labels-answer" role="status">{verdict and f"<p>{verdict}</p>"}'
        f"<p><b>Self-supervised.</b> Look at the last column. All {found.count} rows of pre-training have an input, a "
        "label and a cross-entropy loss, as the rows of fine-tuning have: in form that is supervised learning. But "
        f"{words} labels are the text's own tokens, and one says that {order}. No person gave any, so any text "
        "will do, and there can be billions of words of it.</p>"
        "<p>The paper calls the two tasks unsupervised, since the text is unlabelled; self-supervised is today's "
        "narrower word. Fine-tuning is supervised: its labels are not in the text.</p></div>"
    )


def numbers_html(found: FreeLabels, read: Sequence[str]) -> str:
    """Every masked word of this pass: its place, what is read there, its kind, its label."""
    rows = "".join(
        f'<tr><th scope="row">{place}</th><td>{visible(read[place])}</td>'
        f"<td>{NAMES[int(found.corruption.kinds[place])]}</td><td>{visible(found.encoding.tokens[place])}</td></tr>"
        for place in found.corruption.chosen
    )
    return scrolling_table(
        f"All {len(found.corruption.chosen)} masked words of this pass",
        column_heads(("place", "input", "kind", "label")),
        rows,
    )


def _few(found: FreeLabels) -> list[int]:
    """The first chosen places, with one of each kind where there is one, in the order of the text."""
    places, kinds = found.corruption.chosen.tolist(), found.corruption.kinds
    first = {int(kinds[place]): place for place in reversed(places)}
    picked = list(first.values())[:FEW]
    picked += [place for place in places if place not in picked][: FEW - len(picked)]
    return sorted(picked)


def _joined(encoding: Encoding, read: Sequence[str], start: int, end: int) -> str:
    """The tokens [start, end) as running text, pieces joined to their word; escaped."""
    text = ""
    for place in range(start, end):
        token = read[place]
        whole = place > start and read[place - 1 : place + 1] == list(encoding.tokens[place - 1 : place + 1])
        glued = token.startswith("##") and whole
        text += token[2:] if glued else token if token in CLOSE else f" {token}"
    return visible(text.strip())


def _table(caption: str, rows: str) -> str:
    head = column_heads(("what the model reads", "the label", "who says so"))
    return scrolling_table(caption, head, rows, kind="labels-table")

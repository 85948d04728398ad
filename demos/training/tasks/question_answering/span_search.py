"""From start and end logits to answers: the best possible spans over all windows, and the best that are none."""

import torch

from demos.training.tasks.question_answering.events import Cutout, Impossible, Span, SpanAnswer
from demos.training.tasks.question_answering.windows import Reading

LONGEST = 30  # tokens of an answer, as in Devlin et al.'s run_squad.py
MOST_SPANS = 5
SHOWN = 20  # tokens around the best span, itself counted
BACKWARDS, ASKED, LONG = "ends before it begins", "begins in the question", f"longer than {LONGEST} tokens"


def search(reading: Reading, logits: torch.Tensor) -> SpanAnswer:
    """The answer to one example; `logits` [windows, n, 2], on the CPU, with the padding or without.

    A span's score is its start's start logit plus its end's end logit (Devlin et al. 2019, section 4.2); possible are
    start <= end, both in the paragraph, at most LONGEST tokens. Its probability is the product of the two ends' in its
    own window, where softmax is over the window's part of the paragraph and [CLS]. The null score is the least of the
    windows', as in Devlin et al.'s run_squad.py.
    """
    null = float(logits[: len(reading.windows), 0].sum(dim=-1).min())
    spans: list[tuple[float, int, int, int]] = []  # score, first and last token of the paragraph, window
    chances: list[torch.Tensor] = []  # of each window: [1 + m, 2], [CLS] first
    for window, (first, past) in enumerate(reading.windows):
        part = logits[window, reading.offset : reading.offset + past - first]  # [m, 2]
        chances.append(torch.cat([logits[window, :1], part]).softmax(dim=0))
        spans += [(score, first + i, first + j, window) for score, i, j in best_spans(part, MOST_SPANS)]
    spans.sort(key=lambda span: (-span[0], span[1:]))
    best: dict[tuple[int, int], tuple[Span, int]] = {}
    for score, i, j, window in spans:
        first = reading.windows[window][0]
        start, end = chances[window][1 + i - first, 0], chances[window][1 + j - first, 1]
        span = Span(reading.context[i][0], reading.context[j][1], score, float(start * end))
        best.setdefault((i, j), (span, window))
    if not best:
        return SpanAnswer((), (), None, len(reading.windows), reading.unread, null)
    (i, j), (_, window) = next(iter(best.items()))
    return SpanAnswer(
        tuple(span for span, _ in list(best.values())[:MOST_SPANS]),
        _impossible(reading, logits[window], window),
        _cutout(reading, chances[window], window, i, j),
        len(reading.windows),
        reading.unread,
        null,
    )


def best_spans(logits: torch.Tensor, count: int) -> list[tuple[float, int, int]]:
    """(score, first, last) of the `count` best spans of at most LONGEST tokens: logits [m, 2]."""
    m = len(logits)
    if not m:
        return []
    nothing = logits.new_full((LONGEST - 1,), -torch.inf)
    ends = torch.cat([logits[:, 1], nothing]).unfold(0, LONGEST, 1)  # [m, LONGEST]: the ends from each start on
    scores = (logits[:, :1] + ends).flatten()
    values, places = scores.topk(min(count, len(scores)))
    rows = zip(values.tolist(), places.tolist(), strict=True)
    return [(value, place // LONGEST, place // LONGEST + place % LONGEST) for value, place in rows if value > -1e30]


def _impossible(reading: Reading, logits: torch.Tensor, window: int) -> tuple[Impossible, ...]:
    """The best of each kind in one window: logits [n, 2]."""
    first, past = reading.windows[window]
    q, m = len(reading.question), past - first
    inside = logits[reading.offset : reading.offset + m]  # [m, 2]
    readable = torch.cat([logits[1 : 1 + q], inside])  # [q + m, 2]: neither [CLS] nor [SEP]
    kinds: list[tuple[str, int, int, float]] = []
    if m > 1:
        ends, at = inside[:-1, 1].cummax(0)  # [m - 1]: the best end so far
        score, i = (inside[1:, 0] + ends).max(0)
        kinds.append((BACKWARDS, q + int(i) + 1, q + int(at[i]), float(score)))
    if q:
        ends, at = readable[:, 1].flip(0).cummax(0)  # from each place to the last
        score, i = (readable[:q, 0] + ends.flip(0)[:q]).max(0)
        kinds.append((ASKED, int(i), q + m - 1 - int(at.flip(0)[i]), float(score)))
    if m > LONGEST:
        ends, at = inside[LONGEST:, 1].flip(0).cummax(0)
        score, i = (inside[: m - LONGEST, 0] + ends.flip(0)).max(0)
        kinds.append((LONG, q + int(i), q + m - 1 - int(at.flip(0)[i]), float(score)))

    def token(place: int) -> str:
        if place < q:
            return _piece(reading.example.question, reading.question[place])
        return _piece(reading.example.context, reading.context[first + place - q])

    return tuple(Impossible(reason, token(i), token(j), score) for reason, i, j, score in kinds)


def _piece(text: str, place: tuple[int, int]) -> str:
    return text[slice(*place)]


def _cutout(reading: Reading, chances: torch.Tensor, window: int, i: int, j: int) -> Cutout:
    """SHOWN of the window's tokens, or as many as it has or the span from i to j needs, with the span in their middle.

    chances: [1 + m, 2]
    """
    first, past = reading.windows[window]
    count = max(SHOWN, j - i + 1)
    start = max(first, min(i - (count - (j - i + 1)) // 2, past - count))
    stop = min(past, start + count)
    rows = chances[1 + start - first : 1 + stop - first].tolist()
    return Cutout(
        reading.context[start:stop],
        reading.words[start:stop],
        tuple(row[0] for row in rows),
        tuple(row[1] for row in rows),
        past - first,
        (float(chances[0, 0]), float(chances[0, 1])),
    )

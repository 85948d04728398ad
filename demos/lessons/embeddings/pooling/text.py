"""Two choices compared in words and tables: their pooling, nearest sentences, widest gaps, and all numbers."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.pooling import Choice, dimension, layers_used
from demos.bert.embeddings.search import ranks
from demos.bert.embeddings.similarity import Disagreement
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.figures.cosine_heatmap import NEARLY_SAME, short, tuned_for
from demos.figures.ranked_lists import Hit, Ranking, ranked_html
from demos.figures.token_chips import hue_style
from demos.templates import templates

TEXT = templates(__file__)
SHOWN_NUMBERS = 6
SHOWN_PAIRS = 200
LISTED_PAIRS = 5
LISTED_NEIGHBOURS = 8


def how_html(encoding: Encoding, choice: Choice, num_layers: int, width: int) -> Markup:
    """The way from a sentence's tokens to one vector by this choice, and its dimension: "8 tokens × 384 = ..."."""
    return TEXT.how(
        choice=choice,
        tokens=len(encoding),
        pooled=len(encoding) - sum(encoding.special_tokens_mask),
        width=width,
        size=dimension(choice, num_layers, width),
        layers=layers_used(choice.layer, num_layers),
        deepest=num_layers,
    )


def sentence_html(encoding: Encoding) -> Markup:
    """The numbers of words and tokens in the sentence, and of tokens that did not fit."""
    return TEXT.sentence(short(encoding.text, 90), len(encoding.text.split()), encoding)


def pooled_tokens(encoding: Encoding, weights: np.ndarray, number: int) -> Markup:
    """The tokens of sentence `number` in an ordered list, under each a bar as long as its share [n] of the vector."""
    most = float(weights.max()) or 1.0
    tokens = [
        {"name": token, "share": weight, "bar": weight / most, "hue": hue_style(encoding, index)}
        for index, (token, weight) in enumerate(zip(encoding.tokens, weights, strict=True))
    ]
    return TEXT.pooled(number, tokens)


def compared_html(pairs: Sequence[Disagreement], spec: ModelSpec, longer: int = 0, limited: bool = False) -> Markup:
    """A sentence that compares the two matrices, and the model's tuning.

    `longer` sentences have more tokens than sentence-transformers uses; `limited` if they were cut as it does.
    """
    cosines = np.array([[pair.first, pair.second] for pair in pairs])
    return TEXT.compared(
        count=len(pairs),
        averages=cosines.mean(axis=0),
        alike=[letter for letter, low in zip("AB", cosines.min(axis=0), strict=True) if low > NEARLY_SAME],
        nearly_same=NEARLY_SAME,
        tuned=tuned_for(spec),
        longer=longer,
        limited=limited,
        max_seq_length=spec.max_seq_length,
    )


def pairs_html(pairs: Sequence[Disagreement], sentences: Sequence[str]) -> Markup:
    """The pairs on which A and B disagree most, each with its two cosines as bars; the first is the framed one."""
    return TEXT.pairs(_rows(pairs[:LISTED_PAIRS], sentences, 90))


def neighbours_html(
    cosines: Sequence[np.ndarray], sentences: Sequence[str], index: int, names: Sequence[str]
) -> tuple[Markup, Markup]:
    """(what the lists say, the lists): the other sentences by their cosine with `index`, under A and under B.

    Those whose rank changes most are marked.
    """
    itself = np.arange(len(sentences)) == index
    places = [ranks(np.where(itself, np.inf, cosine[index])) - 1 for cosine in cosines]  # [m], itself at 0
    gaps = np.abs(places[0] - places[1])
    moved = gaps == max(gaps.max(), 1)
    orders = [np.argsort(place)[1:].tolist() for place in places]
    lists = []
    for k, (letter, other) in enumerate((("A", "B"), ("B", "A"))):
        hits = [
            Hit(
                key=at,
                sentence=f"{at + 1} {sentences[at]}",
                score=float(cosines[k][index, at]),
                elsewhere=f"{other} {places[1 - k][at]}",
                moved=bool(moved[at]),
            )
            for at in orders[k][:LISTED_NEIGHBOURS]
        ]
        lists.append(Ranking(f"With {letter}", TEXT.list_name(letter, names[k]), hits))
    first = [_numbered(sentences, order[0], 50) for order in orders]
    mover = None
    if moved.any():
        at = int(moved.argmax())
        mover = {"sentence": _numbered(sentences, at, 50), "places": [place[at] for place in places]}
    return TEXT.nearest(first, mover), ranked_html(lists, min(LISTED_NEIGHBOURS, len(orders[0])))


def numbers_html(
    vectors: Sequence[np.ndarray], pairs: Sequence[Disagreement], sentences: Sequence[str], names: Sequence[str]
) -> Markup:
    """Two tables: the first components of each vector under A and B, and the cosine of every pair."""
    sides = [
        (letter, name, rows.shape[1], list(zip(rows[:, :SHOWN_NUMBERS], np.linalg.norm(rows, axis=1), strict=True)))
        for letter, name, rows in zip("AB", names, vectors, strict=True)
    ]
    listed = [f"{number} {short(sentence, 40)}" for number, sentence in enumerate(sentences, start=1)]
    return TEXT.numbers(
        sides, listed, SHOWN_NUMBERS, _rows(pairs[:SHOWN_PAIRS], sentences, 40), SHOWN_PAIRS, len(pairs)
    )


def _rows(pairs: Sequence[Disagreement], sentences: Sequence[str], length: int) -> list[dict[str, Sequence[object]]]:
    rows = []
    for pair in pairs:
        both = [_numbered(sentences, at, length) for at in (pair.i, pair.j)]
        rows.append({"sentences": both, "cosines": (pair.first, pair.second)})
    return rows


def _numbered(sentences: Sequence[str], at: int, length: int) -> tuple[int, str]:
    return at + 1, short(sentences[at], length)

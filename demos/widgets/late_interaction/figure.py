"""A query against one sentence as a matrix, each row's largest cell framed; two ranked lists; the numbers."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.late_interaction import Interaction, TokenVectors
from demos.bert.embeddings.search import Precision, ranking
from demos.figures.cosine_heatmap import short
from demos.figures.figure.figure import Figure
from demos.figures.matrix import matrix_figure
from demos.figures.ranked_lists import Ranking, hits_of, ranked_html
from demos.templates import templates

TEXT = templates(__file__)
SHOWN = 10  # places of each list
FRAME = {"color": "#d55e00", "width": 3}
NAMES = ("A: one vector per sentence (cosine)", "B: one vector per token (MaxSim)")


def interaction_figure(query: TokenVectors, sentence: TokenVectors, interaction: Interaction) -> Figure:
    """The cosines [q, n]; the largest of each row, whose sum is MaxSim, has a frame."""
    figure = matrix_figure(interaction.cosines, query.labels, sentence.labels, scale="signed", limit=1.0, what="cosine")
    layout = figure["layout"]
    layout["shapes"] += [
        {"type": "rect", "x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5, "line": FRAME}
        for row, column in enumerate(interaction.best.tolist())
    ]
    layout["xaxis"]["title"]["text"] = "the sentence"
    layout["yaxis"]["title"]["text"] = "the query"
    return figure


def lists_html(
    scores: Sequence[np.ndarray],
    precisions: Sequence[Precision] | None,
    sentences: Sequence[str],
    topics: Sequence[str],
    largest: Sequence[float],
) -> Markup:
    """The first places under each of the two scores, which are named in NAMES.

    `precisions`: how many are right when every sentence is a query, where that was measured; `largest`: what each
    score can be at most.
    """
    columns = []
    for number, (name, score) in enumerate(zip(NAMES, scores, strict=True)):
        other = NAMES[1 - number][0], scores[1 - number]
        hits = hits_of(ranking(score)[:SHOWN].tolist(), score, other, sentences, topics)
        above = TEXT.above(name, precisions[number] if precisions else None)
        columns.append(Ranking(name, above, hits, largest=largest[number]))
    return ranked_html(columns, min(SHOWN, len(sentences)))


def summary_html(
    query: TokenVectors, sentence: str, against: TokenVectors, interaction: Interaction, cosine: float
) -> Markup:
    """Each query token with the token it is most similar to, and their sum."""
    pairs = [
        (name, against.labels.names[column], float(interaction.cosines[row, column]))
        for row, (name, column) in enumerate(zip(query.labels.names, interaction.best, strict=True))
    ]
    return TEXT.summary(short(sentence, 90), pairs, interaction.score, cosine)


def numbers_html(
    query: TokenVectors, against: TokenVectors, interaction: Interaction, tokens: int, sentences: int
) -> Markup:
    """All cosines, and how many numbers an index keeps."""
    return TEXT.numbers(
        query.labels.names, against.labels.names, interaction.cosines.tolist(), tokens, sentences, query.units.shape[1]
    )

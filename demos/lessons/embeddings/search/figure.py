"""A search as HTML: three ranked lists side by side, their numbers, and the program that prints them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.search import Precision, ranking, ranks
from demos.bert.model.catalogue import ModelSpec
from demos.figures.cosine_heatmap import short
from demos.figures.program import encode_lines, model_lines
from demos.figures.ranked_lists import Ranking, hits_of, ranked_html
from demos.templates import templates

TEXT = templates(__file__)
SHOWN = 10  # places of each list
OTHER = {"A": "B", "B": "A", "words": "B"}  # the list with which each list's ranks are compared
KEYWORDS = "Words (TF-IDF)"


@dataclass(frozen=True)
class Searched:
    """The results of one list: a score for each sentence [m], of which those over `above` count; its precision."""

    letter: str  # A, B or words
    name: str
    scores: np.ndarray
    above: float = -np.inf
    precision: Precision | None = None  # where the sentences have topics

    def top(self) -> list[int]:
        """The first places of the list."""
        return [int(at) for at in ranking(self.scores)[:SHOWN] if self.scores[at] > self.above]


def hits_html(
    lists: Sequence[Searched],
    sentences: Sequence[str],
    topics: Sequence[str],
    shared: Sequence[frozenset[tuple[int, int]]],
) -> Markup:
    """The first places of each list, words that the query has too marked (`shared`, one a sentence), and topics."""
    scores = {searched.letter: searched.scores for searched in lists}
    columns = []
    for searched in lists:
        other = OTHER[searched.letter]
        hits = hits_of(searched.top(), searched.scores, (other, scores[other]), sentences, topics, shared)
        name = searched.name if searched.letter == "words" else f"{searched.letter}: {searched.name}"
        empty = "" if len(hits) == min(SHOWN, len(sentences)) else TEXT.empty(len(hits))
        columns.append(Ranking(searched.name, TEXT.above(name, searched.precision), hits, empty))
    return ranked_html(columns, min(SHOWN, len(sentences)))


def results_html(
    query: str, lists: Sequence[Searched], sentences: Sequence[str], shared: Sequence[frozenset[tuple[int, int]]]
) -> Markup:
    """Sentences on the first results of A, B and the words, and on the meaning of "correct"."""
    top_a, top_b = lists[0].top(), lists[1].top()
    same = top_a[0] == top_b[0]
    return TEXT.results(
        query=short(query, 120),
        first_a=short(sentences[top_a[0]], 90),
        first_b=short(sentences[top_b[0]], 110 if same else 90),
        same=same,
        shared=shared[top_b[0]],
        both=len(set(top_a) & set(top_b)),
        shown=len(top_a),
        count=len(sentences),
        precision=lists[0].precision,
    )


def numbers_html(lists: Sequence[Searched], sentences: Sequence[str], topics: Sequence[str]) -> Markup:
    """Every sentence that is in a list's first places, with its score and rank in each; then precision."""
    union = dict.fromkeys(at for searched in (lists[1], lists[0], *lists[2:]) for at in searched.top())
    places = [ranks(searched.scores) for searched in lists]
    rows = []
    for at in union:
        scores_and_ranks = [
            (searched.scores[at], place[at] if searched.scores[at] > searched.above else None)
            for searched, place in zip(lists, places, strict=True)
        ]
        rows.append((short(sentences[at], 90), topics[at] if topics else "", scores_and_ranks))
    return TEXT.numbers(rows, lists, topics, len(sentences))


def search_code(spec: ModelSpec, query: str, choice: Choice, ours: bool) -> str:
    """Prints B's first places and those of TF-IDF, over the library or over sentences.txt (one a line)."""
    needed, source = model_lines(spec)
    lines = (
        'with open("assets/data/library.tsv", encoding="utf-8") as file:  # a file of Inside BERT\n'
        '    sentences = [line.rstrip("\\n").split("\\t")[1] for line in file][1:]'
        if ours
        else 'with open("sentences.txt", encoding="utf-8") as file:  # your list, one sentence a line\n'
        "    sentences = [line.strip() for line in file if line.strip()]"
    )
    return f"""{needed}import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from transformers import AutoModel, AutoTokenizer

{source}
{encode_lines(spec, choice)}

{lines}
query = {query!r}

units = torch.cat([encode(sentences[at:at + 32]) for at in range(0, len(sentences), 32)])
cosine = (units @ encode([query])[0]).tolist()
tfidf = TfidfVectorizer(stop_words="english")
weights = tfidf.fit_transform(sentences)
words = (weights @ tfidf.transform([query]).T).toarray()[:, 0].tolist()
for scores in (cosine, words):
    for score, sentence in sorted(zip(scores, sentences), key=lambda pair: -pair[0])[:{SHOWN}]:
        print(f"{{score:.4f}}", sentence)
    print()
"""

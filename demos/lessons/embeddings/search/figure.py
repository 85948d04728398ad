"""A search told: three ranked lists side by side, their numbers, and the program that prints them (HTML, escaped)."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.search import Precision, ranking, ranks
from demos.bert.model.catalogue import ModelSpec
from demos.figures.cosines import short
from demos.figures.palette import TOPICS
from demos.figures.program import encode_lines, model_lines
from demos.figures.ranked_lists import Hit, Ranking, ranked_html
from demos.figures.tables import column_heads, scrolling_table

SHOWN = 10  # places of each list
FAR = 3  # places; a sentence that stands so far off in the other list is marked
OTHER = {"A": "B", "B": "A", "words": "B"}  # the list that each one's ranks are held against
KEYWORDS = "Words (TF-IDF)"


@dataclass(frozen=True)
class Searched:
    """What one list found: a score a sentence [m], those over `above` count; how well it does on all sentences."""

    letter: str  # A, B or words
    name: str
    scores: np.ndarray
    above: float = -np.inf
    precision: Precision | None = None  # where the sentences have topics

    def top(self) -> list[int]:
        """The first places of the list."""
        return [int(at) for at in ranking(self.scores)[:SHOWN] if self.scores[at] > self.above]


def topic_hues(topics: Sequence[str]) -> dict[str, str]:
    """A colour for each topic, by the alphabet; the same as on the map."""
    return {topic: TOPICS[k % len(TOPICS)] for k, topic in enumerate(sorted(set(topics)))}


def hits_html(
    lists: Sequence[Searched],
    sentences: Sequence[str],
    topics: Sequence[str],
    shared: Sequence[frozenset[tuple[int, int]]],
) -> str:
    """The first places of each list, words that the query has too marked (`shared`, one a sentence), and topics."""
    hues = topic_hues(topics)
    places = {one.letter: ranks(one.scores) for one in lists}
    columns = []
    for one in lists:
        other = OTHER[one.letter]
        hits = [
            Hit(
                key=at,
                sentence=sentences[at],
                score=float(one.scores[at]),
                elsewhere=f"{other} {places[other][at]}",
                moved=abs(int(places[other][at]) - int(places[one.letter][at])) >= FAR,
                tag=topics[at] if topics else "",
                hue=hues[topics[at]] if topics else "",
                shared=shared[at],
            )
            for at in one.top()
        ]
        empty = "" if len(hits) == min(SHOWN, len(sentences)) else _empty(len(hits))
        columns.append(Ranking(one.name, _above(one), hits, empty))
    return ranked_html(columns, min(SHOWN, len(sentences)))


def _empty(found: int) -> str:
    if not found:
        return "No sentence shares a word with the query: a search for words finds nothing."
    return "No other sentence shares a word with the query."


def _above(one: Searched) -> str:
    """A list's name, and how many of its first places are right when every sentence is a query."""
    name = html.escape(one.name if one.letter == "words" else f"{one.letter}: {one.name}")
    if one.precision is None:
        return f"<h4>{name}</h4>"
    k, right = one.precision.k, one.precision.value * one.precision.k
    found = f" ({one.precision.found:.1f} found)" if one.precision.found < k - 0.05 else ""
    return f'<h4>{name}</h4><p class="right"><b>{right:.1f}</b> of {k} right, all queries{found}</p>'


def told_html(
    query: str, lists: Sequence[Searched], sentences: Sequence[str], shared: Sequence[frozenset[tuple[int, int]]]
) -> str:
    """What A, B and the words put first, and what "right" means, in sentences."""
    tops = {one.letter: one.top() for one in lists}
    first = {letter: top[0] for letter, top in tops.items() if top}
    told = [f"Asked: “{html.escape(short(query, 120))}”."]
    if first["A"] == first["B"]:
        told.append(f"A and B both put first “{html.escape(short(sentences[first['B']], 110))}”")
    else:
        told.append(
            f"First by A: “{html.escape(short(sentences[first['A']], 90))}”; "
            f"by B: “{html.escape(short(sentences[first['B']], 90))}”"
        )
    told[-1] += ", which shares a word with it." if shared[first["B"]] else ", without a word in common."
    count = len(set(tops["A"]) & set(tops["B"]))
    told.append(f"{count} of A's first {len(tops['A'])} are also among B's.")
    precision = lists[0].precision
    if precision is not None:
        told.append(
            f"Above: each of the {len(sentences):,} sentences as the query in turn, <b>right</b> means its topic; "
            f"by lot it would be {precision.chance * precision.k:.1f} of {precision.k}."
        )
    return f"<p>{' '.join(told)}</p>"


def numbers_html(lists: Sequence[Searched], sentences: Sequence[str], topics: Sequence[str]) -> str:
    """Every sentence that is in a list's first places, with its score and rank in each; then precision."""
    union = dict.fromkeys(at for one in reversed(lists[:2]) for at in one.top())
    union |= dict.fromkeys(at for one in lists for at in one.top())
    places = [ranks(one.scores) for one in lists]
    rows = "".join(
        f'<tr><th scope="row" class="sentence">{html.escape(short(sentences[at], 90))}</th>'
        + (f"<td>{html.escape(topics[at])}</td>" if topics else "")
        + "".join(
            f"<td>{one.scores[at]:.4f}</td><td>{place[at] if one.scores[at] > one.above else '–'}</td>"
            for one, place in zip(lists, places, strict=True)
        )
        + "</tr>"
        for at in union
    )
    heads = ["sentence", *(["topic"] if topics else [])]
    heads += [head for one in lists for head in (f"cosine {one.letter}", f"rank {one.letter}")]
    table = scrolling_table(
        "What is in a list's first places, with its cosine and rank in each", column_heads(heads), rows,
        kind="lesson-table",
    )  # fmt: skip
    if lists[0].precision is None:
        return table
    scored = "".join(
        f'<tr><th scope="row" class="sentence">{html.escape(one.name)}</th><td>{one.precision.value:.4f}</td>'
        f"<td>{one.precision.found:.2f}</td><td>{one.precision.chance:.4f}</td></tr>"
        for one in lists
        if one.precision is not None
    )
    k = lists[0].precision.k
    caption = f"Precision at {k} over {len(sentences):,} queries, how many a search finds, and precision by lot"
    return table + scrolling_table(
        caption, column_heads(["list", f"precision@{k}", "found", "by lot"]), scored, kind="lesson-table"
    )


def search_code(spec: ModelSpec, query: str, choice: Choice, ours: bool) -> str:
    """Prints B's first places and those of TF-IDF, over the library or over sentences.txt (one a line)."""
    needed, source = model_lines(spec)
    lines = (
        'with open("assets/data/library.tsv", encoding="utf-8") as file:  # run in the project\'s folder\n'
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

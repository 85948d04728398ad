"""Eight attention patterns, each one number for each head, after Clark et al. 2019.

Kevin Clark et al. (2019), What Does BERT Look At?, sections 3.1 to 3.3: heads that attend to the previous or next
token, to [CLS], [SEP] or punctuation (few to the token itself), and broad heads, found by their entropy. "Same word"
and the exact definitions are ours.
"""

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from demos.bert.model.encoding import Encoding

Targets = Callable[[Encoding], np.ndarray]


@dataclass(frozen=True)
class Pattern:
    """One pattern. `targets(encoding)` says for each token what it would look at, <bool>[n, n]; None for broad."""

    name: str
    title: str  # the tokens that such a head attends to, in a word or two
    definition: str
    missing: str = ""  # said where the input has nothing of the kind
    targets: Targets | None = None


def pattern_scores(attentions: np.ndarray, encoding: Encoding) -> dict[str, np.ndarray]:
    """Each pattern's score of every head, <float64>[L, A] by the pattern's name, from weights [L, A, n, n].

    A score is the mean, over the tokens that have such a target, of the weight they give to their targets together;
    for "broad" it is the mean entropy over the largest possible, ln n. nan where no token has a target.
    """
    layers, heads, n, _ = attentions.shape
    flat = attentions.reshape(layers * heads, n * n)
    aimed = {pattern.name: pattern.targets(encoding) for pattern in PATTERNS.values() if pattern.targets}
    rows = np.array([targets.any(axis=1).sum() for targets in aimed.values()])  # tokens that have a target
    masks = np.stack([targets.ravel() for targets in aimed.values()]).astype(flat.dtype)
    with np.errstate(invalid="ignore"):
        means = (flat @ masks.T).astype(np.float64) / rows  # 0 / 0 = nan
    scores = {name: column.reshape(layers, heads) for name, column in zip(aimed, means.T, strict=True)}
    scores["broad"] = mean_entropy(attentions) / np.log(n) if n > 1 else np.full((layers, heads), np.nan)
    return {name: scores[name] for name in PATTERNS}


def even_scores(encoding: Encoding) -> dict[str, float]:
    """The score of a head that gives every token the same weight, 1/n: the baseline of each pattern."""
    n = len(encoding)
    scores = pattern_scores(np.full((1, 1, n, n), 1 / n), encoding)
    return {name: float(score[0, 0]) for name, score in scores.items()}


def mean_entropy(attentions: np.ndarray) -> np.ndarray:
    """The mean over a head's rows of -sum_j alpha_ij ln alpha_ij, in nats: <float64>[L, A] from weights [L, A, n, n].

    One layer at a time, so that 512 tokens of twelve layers need no second copy of all weights.
    """
    tiny = np.finfo(attentions.dtype).tiny
    result = np.empty(attentions.shape[:2])
    for index, layer in enumerate(attentions):  # [A, n, n]
        logs = np.maximum(layer, tiny)
        np.log(logs, out=logs)
        logs *= layer  # 0 ln 0 = 0
        result[index] = -logs.sum(axis=-1).mean(axis=-1, dtype=np.float64)
    return result


def is_punctuation(token: str) -> bool:
    """Whether a token has only characters that Unicode calls punctuation (so $ and + are none)."""
    return bool(token) and all(unicodedata.category(character).startswith("P") for character in token)


def words(encoding: Encoding) -> list[str]:
    """For each token the whole word it is a piece of, lower-cased; "" for special tokens and punctuation marks."""
    spans: dict[int, tuple[int, int, int]] = {}  # running number of a word -> sequence, first and last character
    for word, sequence, (start, end) in zip(encoding.word_index, encoding.sequence_ids, encoding.offsets, strict=True):
        if word is not None and sequence is not None:
            spans[word] = (sequence, min(start, spans.get(word, (0, start, 0))[1]), end)
    texts = (encoding.text, encoding.text_pair)
    names = {word: texts[sequence][start:end].lower() for word, (sequence, start, end) in spans.items()}
    return [
        "" if word is None or is_punctuation(names.get(word, "")) else names.get(word, "")
        for word in encoding.word_index
    ]


def _offset(by: int) -> Targets:
    return lambda encoding: np.eye(len(encoding), k=by, dtype=bool)


def _tokens(aimed_at: Callable[[str], bool]) -> Targets:
    """Every token aims at the same ones, which are recognized by their text."""
    return lambda encoding: np.tile([aimed_at(token) for token in encoding.tokens], (len(encoding), 1))


def _first(encoding: Encoding) -> np.ndarray:
    """Every token aims at the first, which is [CLS]; one that was written further on is not meant."""
    return np.tile(np.arange(len(encoding)) == 0, (len(encoding), 1))


def _same_word(encoding: Encoding) -> np.ndarray:
    """The tokens of the same word elsewhere; the pieces of a token's own occurrence are not elsewhere."""
    named = words(encoding)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(named))}
    word = np.array([numbers[name] if name else -1 for name in named])  # [n]
    occurrence = np.array([-1 if index is None else index for index in encoding.word_index])  # [n]
    same = (word[:, None] == word) & (occurrence[:, None] != occurrence)
    return same & (word >= 0)


SEPARATORS = ("[SEP]", "</s>")  # BERT's, RoBERTa's
PATTERNS: Mapping[str, Pattern] = {
    pattern.name: pattern
    for pattern in (
        Pattern("previous", "previous token",
                "The weight of each token on the token just before it, averaged over all tokens but the first.",
                "no token has a previous token", _offset(-1)),
        Pattern("next", "next token",
                "The weight of each token on the token just after it, averaged over all tokens but the last.",
                "no token has a next token", _offset(1)),
        Pattern("itself", "itself", "The weight of each token on itself, averaged over all tokens.", "", _offset(0)),
        Pattern("cls", "[CLS]", "The weight of each token on [CLS], averaged over all tokens.", "", _first),
        Pattern("sep", "[SEP]", "The total weight of each token on [SEP], averaged over all tokens.",
                "no [SEP] here", _tokens(lambda token: token in SEPARATORS)),
        Pattern("punctuation", "punctuation",
                "The total weight of each token on punctuation marks, averaged over all tokens.",
                "no punctuation here", _tokens(is_punctuation)),
        Pattern("same_word", "same word",
                "The total weight of each token on the other occurrences of its word (ignoring capitals), averaged "
                "over the tokens of repeated words.", "no word occurs twice here", _same_word),
        Pattern("broad", "spread out",
                "The entropy of each token's weights, divided by its maximum (ln n for n tokens) and averaged over "
                "all tokens: 1 means equal weights, 0 means all weight on one token."),
    )
}  # fmt: skip

"""Text to pre-train on: documents as sentences of token ids, and the pairs that are drawn from them."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer

from demos.bert.pretraining.corruption import corrupt
from demos.bert.pretraining.next_sentence import IS_NEXT, NOT_NEXT
from demos.errors import UserError
from demos.training.pretraining.batches import Instance
from demos.training.pretraining.passage import cut_behind

LEAST_OTHER = 8  # tokens of a second part from elsewhere, where the first one fills the sequence
_END = re.compile(r"(?<=[.!?])([\"”’')\]]*)\s+(?=[\"“‘'(\[A-Z])")


@dataclass(frozen=True)
class Corpus:
    """D documents of sentences, S in all, as flat arrays: millions of sentences are too many for lists."""

    input_ids: np.ndarray  # <uint16>[tokens]
    sentences: np.ndarray  # <int64>[S + 1]: where each sentence begins in `input_ids`, and the end
    documents: np.ndarray  # <int64>[D, 2]: first sentence, and the one behind the last
    alike: np.ndarray | None = None  # <int64>[D, K]: similar documents, which give half of the false B

    def sentence(self, index: int) -> np.ndarray:
        """Its token ids."""
        return self.input_ids[self.sentences[index] : self.sentences[index + 1]]

    def part(self, documents: slice) -> Corpus:
        """Some of its documents."""
        return Corpus(self.input_ids, self.sentences, self.documents[documents])

    def with_alike(self, count: int) -> Corpus:
        """To each document the `count` others with the most similar words: the cosine of their TF-IDF.

        Two books differ by their century alone; with these as wrong second parts, the model must look closer.
        """
        spans = [self.sentences[[first, last]] for first, last in self.documents]
        size = int(self.input_ids.max()) + 1
        counts = np.stack([np.bincount(self.input_ids[begin:end], minlength=size) for begin, end in spans])
        rows = TfidfTransformer(sublinear_tf=True).fit_transform(csr_matrix(counts))
        cosines = (rows @ rows.T).toarray()
        np.fill_diagonal(cosines, -1.0)
        return replace(self, alike=np.argsort(-cosines, axis=1)[:, :count])


def read_documents(path: Path) -> Iterator[list[str]]:
    """The sentences of each document of a text file, which may be packed by xz.

    A line is a paragraph, and an empty line ends a document; where a line holds a tab, it is a document by itself, its
    sentences parted by tabs.
    """
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as file:
        document: list[str] = []
        for line in file:
            text = line.strip("\n")
            if "\t" in text:
                yield [part.strip() for part in text.split("\t") if part.strip()]
            elif text.strip():
                document += sentences_of(text)
            elif document:
                yield document
                document = []
        if document:
            yield document


def sentences_of(paragraph: str) -> list[str]:
    """Cut behind a mark that ends a sentence, where a capital, a bracket or a quotation mark follows."""
    return [sentence.strip() for sentence in cut_behind(paragraph, _END) if sentence.strip()]


def corpus_of(documents: Iterable[Sequence[str]], tokenizer: Any) -> Corpus:
    """Documents as token ids; those of fewer than two sentences are left out, since nothing follows in them.

    Raises UserError for fewer than two such documents.
    """
    ids: list[np.ndarray] = []
    starts, spans = [0], []
    for document in documents:
        first = len(ids)
        for encoded in tokenizer.backend_tokenizer.encode_batch(list(document), add_special_tokens=False):
            if encoded.ids:
                ids.append(np.array(encoded.ids, dtype=np.uint16))
                starts.append(starts[-1] + len(encoded.ids))
        if len(ids) > first + 1:
            spans.append((first, len(ids)))
    if len(spans) < 2:
        raise UserError("The text needs two documents of at least two sentences, with an empty line between them.")
    return Corpus(np.concatenate(ids), np.array(starts, dtype=np.int64), np.array(spans, dtype=np.int64))


def draw_instance(corpus: Corpus, tokenizer: Any, rng: np.random.Generator, max_length: int) -> Instance:
    """One sequence of up to `max_length` tokens as the paper makes them, corrupted (Devlin et al. 2019, A.2).

    Whole sentences of one document until the sequence is full, cut between two of them into A and B; by the toss of a
    coin B is kept (IsNext) or taken from another document (NotNext). A sequence that is too long is cut at either
    end of the longer part. [UNK] is never a target: the word that it hides is unknown.
    """
    ends = np.cumsum(corpus.documents[:, 1] - corpus.documents[:, 0])
    room = max_length - 3
    number = int(np.searchsorted(ends, rng.integers(ends[-1]), side="right"))  # a document by its sentences
    first, last = corpus.documents[number]
    begin = int(rng.integers(first, max(first + 1, last - 1)))
    sentences: list[np.ndarray] = []
    count, at = 0, begin
    while at < last and (count < room or len(sentences) < 2):
        sentences.append(corpus.sentence(at))
        count, at = count + len(sentences[-1]), at + 1
    cut = int(rng.integers(1, len(sentences)))
    a = np.concatenate(sentences[:cut])
    if rng.random() < 0.5:
        b, following = np.concatenate(sentences[cut:]), IS_NEXT
    else:
        ended = len(sentences) - cut if at == last and count < room else 0
        b, following = _elsewhere(corpus, number, max(LEAST_OTHER, room - len(a)), ended, rng), NOT_NEXT
    left, right = [*map(int, a)], [*map(int, b)]
    while len(left) + len(right) > room:
        longer = left if len(left) > len(right) else right
        longer.pop(0 if rng.random() < 0.5 else -1)
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    ids = [cls, *left, sep, *right, sep]
    segments = (0,) * (len(left) + 2) + (1,) * (len(right) + 1)
    never = {cls, sep, tokenizer.unk_token_id, tokenizer.mask_token_id, tokenizer.pad_token_id}
    marks = [int(token_id in never) for token_id in ids]
    if all(marks):
        return draw_instance(corpus, tokenizer, rng, max_length)
    return Instance(corrupt(tokenizer, ids, rng, special=marks), segments, following)


def _elsewhere(corpus: Corpus, number: int, count: int, ended: int, rng: np.random.Generator) -> np.ndarray:
    """Sentences of another document: from a random one on, until there are `count` tokens or it ends.

    Where the document itself ended, `ended` sentences from its cut, so does the other one: its last `ended` sentences.
    Else its place or its length would reveal which part is false: in documents of two sentences, three times in four.
    """
    if corpus.alike is not None and rng.random() < 0.5:
        other = int(rng.choice(corpus.alike[number]))
    else:
        other = (number + int(rng.integers(1, len(corpus.documents)))) % len(corpus.documents)
    first, last = corpus.documents[other]
    if ended:
        return np.concatenate([corpus.sentence(index) for index in range(max(first, last - ended), last)])
    sentences: list[np.ndarray] = []
    at, have = int(rng.integers(first, last)), 0
    while at < last and have < count:
        sentences.append(corpus.sentence(at))
        at, have = at + 1, have + len(sentences[-1])
    return np.concatenate(sentences)

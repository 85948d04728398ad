"""The vocabulary as a list one can search: every entry with its id and kind, none left out."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from demos.errors import UserError

WORD = "whole word"
CONTINUATION = "continuation"
CHARACTER = "single character"
UNUSED = "unused slot"
SPECIAL = "special token"
KINDS = (WORD, CONTINUATION, CHARACTER, UNUSED, SPECIAL)

BEGINS, ENDS, CONTAINS = "begins with", "ends with", "contains"
MAX_SHOWN = 200

_UNUSED = re.compile(r"\[unused\d+\]")


@dataclass(frozen=True)
class Entry:
    """One row of the vocabulary. A single character that goes on with a word ("##s") counts as a continuation."""

    id: int
    token: str
    kind: str
    letters: str  # the token without the continuation prefix

    @property
    def length(self) -> int:
        """Characters, the continuation prefix not counted."""
        return len(self.letters)


@dataclass(frozen=True)
class Matches:
    """The result of a search: the first entries in the order of their ids, and the number of all."""

    entries: tuple[Entry, ...]
    total: int


@dataclass(frozen=True)
class Vocabulary:
    """All entries of one tokenizer by id (30,522 for uncased BERT)."""

    entries: tuple[Entry, ...]
    prefix: str  # "##"
    lowercase: bool

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def counts(self) -> Mapping[str, int]:
        """Entries of each kind; together they are the whole vocabulary."""
        counted = Counter(entry.kind for entry in self.entries)
        return {kind: counted[kind] for kind in KINDS}

    def search(
        self,
        letters: str = "",
        where: str = BEGINS,
        kind: str = "",
        length: int = 0,
        limit: int = MAX_SHOWN,
    ) -> Matches:
        """Entries whose letters begin with, end with or contain `letters`, of one kind and length (empty, 0: any).

        Letters written with the prefix ("##ing") match continuations only. Raises UserError for an unknown
        `where` or `kind`.
        """
        if where not in (BEGINS, ENDS, CONTAINS):
            raise UserError(f"The position must be one of: {BEGINS}, {ENDS}, {CONTAINS}.")
        if kind and kind not in KINDS:
            raise UserError(f"The kind must be one of: {', '.join(KINDS)}.")
        wanted = letters.strip()
        if wanted.startswith(self.prefix):
            kind, wanted = kind or CONTINUATION, wanted.removeprefix(self.prefix)
        if self.lowercase and not wanted.startswith("["):
            wanted = wanted.lower()
        test = {BEGINS: str.startswith, ENDS: str.endswith, CONTAINS: str.__contains__}[where]
        matches = [
            entry
            for entry in self.entries
            if (not kind or entry.kind == kind)
            and (not length or entry.length == length)
            and (not wanted or test(entry.letters, wanted))
        ]
        return Matches(tuple(matches[:limit]), len(matches))

    def words_from(self, piece: str, limit: int = MAX_SHOWN) -> Matches:
        """The whole words that begin with this piece: the piece's letters, without its continuation prefix."""
        return self.search(piece.strip().removeprefix(self.prefix), BEGINS, WORD, limit=limit)

    def entry(self, number: int) -> Entry:
        """The entry with this id. Raises UserError for a number that is no id of this vocabulary."""
        if not 0 <= number < len(self.entries):
            raise UserError(f"The ids of this vocabulary run from 0 to {len(self.entries) - 1:,}.")
        return self.entries[number]

    def around(self, number: int) -> tuple[Entry, ...]:
        """The entries with the ids from three before `number` to three behind it."""
        return self.entries[max(0, number - 3) : number + 4]


def read_vocabulary(tokenizer: Any) -> Vocabulary:
    """The vocabulary of a WordPiece tokenizer, its ids without a gap from 0. Raises UserError for another tokenizer."""
    model = tokenizer.backend_tokenizer.model
    if type(model).__name__ != "WordPiece":
        raise UserError("This model's tokenizer is not of BERT's kind, so its vocabulary can't be explored here.")
    prefix = getattr(model, "continuing_subword_prefix", "##")
    special = set(tokenizer.all_special_tokens)
    by_id = sorted((number, token) for token, number in tokenizer.get_vocab().items())
    return Vocabulary(
        tuple(Entry(number, token, *_kind(token, prefix, special)) for number, token in by_id),
        prefix,
        bool(getattr(tokenizer.backend_tokenizer.normalizer, "lowercase", False)),
    )


def _kind(token: str, prefix: str, special: set[str]) -> tuple[str, str]:
    """An entry's kind and its letters."""
    if token in special:
        return SPECIAL, token
    if _UNUSED.fullmatch(token):
        return UNUSED, token
    if token.startswith(prefix) and token != prefix:
        return CONTINUATION, token.removeprefix(prefix)
    return (CHARACTER if len(token) == 1 else WORD), token

"""BERT's tokenizer with its work shown: cleaning, folding, splitting, then greedy longest-match-first, try by try.

Every character table comes from the tokenizer's own normalizer and pre-tokenizer, one switch on at a time: Python's
Unicode version is another than theirs, and the trace must agree with the tokenizer on every input. The greedy search
is written out here.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, WhitespaceSplit

from demos.bert.model.text import clean_text
from demos.errors import UserError

MAX_TRIES = 5_050  # tries kept in one trace: the most that one word of 100 characters can need, 100 + 99 + … + 1

TOO_LONG = "too long"
NO_PIECE = "no piece"

SWITCHES = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")  # in the order they are applied


@dataclass(frozen=True)
class Rules:
    """The settings of one tokenizer, read from its own files."""

    clean_text: bool
    handle_chinese_chars: bool
    strip_accents: bool  # None in the settings means: as `lowercase` does
    lowercase: bool
    prefix: str  # "##"
    unk_token: str
    max_characters: int  # longer words become unk_token unread
    special_tokens: tuple[str, ...]  # kept whole wherever they are in the text


@dataclass(frozen=True)
class Try:
    """One candidate of the greedy search: `word[start:end]`, looked up as `piece`; `id` is None for a miss."""

    start: int
    end: int
    piece: str
    id: int | None


@dataclass(frozen=True)
class Word:
    """The split of one word: its pieces, and each try on the way (empty once a trace holds MAX_TRIES of them)."""

    text: str
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    tries: tuple[Try, ...] = ()
    special: bool = False  # a special token written in the text, never split
    why_unknown: str = ""  # TOO_LONG or NO_PIECE where the word ended as unk_token
    stuck_at: int = 0  # for NO_PIECE: the character no piece begins at


@dataclass(frozen=True)
class Part:
    """A stretch of the text on its way; a special token written in the text goes through untouched."""

    text: str
    special: bool = False


@dataclass(frozen=True)
class Stage:
    """The text after one step, in parts; `changes` lists each character that the step replaced, and by what."""

    name: str  # "typed", "special", one of SWITCHES, "spaces" or "punctuation"
    parts: tuple[Part, ...]
    changes: tuple[tuple[str, str], ...] = ()
    on: bool = True  # False: this tokenizer skips the step


@dataclass(frozen=True)
class Trace:
    """All steps from a text to tokens; `[CLS]` and `[SEP]` around a sentence are not part of it."""

    rules: Rules
    stages: tuple[Stage, ...]
    words: tuple[Word, ...]


def read_rules(tokenizer: Any) -> Rules:
    """The rules of a fast BERT tokenizer. Raises UserError, one sentence, where it works in another way."""
    backend = tokenizer.backend_tokenizer
    normalizer = json.loads(backend.normalizer.__getstate__()) if backend.normalizer else {}
    pre_tokenizer = json.loads(backend.pre_tokenizer.__getstate__()) if backend.pre_tokenizer else {}
    kinds = (normalizer.get("type"), pre_tokenizer.get("type"), type(backend.model).__name__)
    added = tokenizer.added_tokens_decoder.values()
    unusual = any(token.normalized or token.lstrip or token.rstrip or token.single_word for token in added)
    if kinds != ("BertNormalizer", "BertPreTokenizer", "WordPiece") or unusual:
        raise UserError("This model's tokenizer is not of BERT's kind, so its steps can't be shown here.")
    accents = normalizer["strip_accents"]
    return Rules(
        clean_text=normalizer["clean_text"],
        handle_chinese_chars=normalizer["handle_chinese_chars"],
        strip_accents=normalizer["lowercase"] if accents is None else accents,
        lowercase=normalizer["lowercase"],
        prefix=backend.model.continuing_subword_prefix,
        unk_token=backend.model.unk_token,
        max_characters=backend.model.max_input_chars_per_word,
        special_tokens=tuple(sorted((token.content for token in added), key=len, reverse=True)),
    )


def trace(tokenizer: Any, text: str | None) -> Trace:
    """Follow `text` through the tokenizer. The words' pieces are what the tokenizer itself makes, on every input.

    At most MAX_TRIES tries are kept, so that a long text stays small; the tokens are complete.
    Raises UserError for a text over the character limit or a tokenizer that is not BERT's.
    Source: Devlin et al. 2019, section 3; `BasicTokenizer` and `WordpieceTokenizer` in google-research/bert.
    """
    rules = read_rules(tokenizer)
    typed = clean_text(text)
    model = tokenizer.backend_tokenizer.model
    parts = split_special(typed, rules)
    stages = [
        Stage("typed", (Part(typed),)),
        Stage("special", tuple(parts), on=any(part.special for part in parts)),
    ]
    for name in SWITCHES:
        changes: tuple[tuple[str, str], ...] = ()
        if getattr(rules, name):
            step = _only(name)
            changes = _changes(step, parts)
            parts = [part if part.special else Part(step(part.text)) for part in parts]
        stages.append(Stage(name, tuple(parts), changes, getattr(rules, name)))
    stages.append(Stage("spaces", _split(parts, WhitespaceSplit())))
    stages.append(Stage("punctuation", _split(parts, BertPreTokenizer())))

    words: list[Word] = []
    done: dict[str, Word] = {}
    left = MAX_TRIES
    for part in stages[-1].parts:
        if part.special:
            words.append(Word(part.text, (part.text,), (tokenizer.convert_tokens_to_ids(part.text),), special=True))
            continue
        if part.text not in done:
            word = match(part.text, model.token_to_id, rules)
            done[part.text] = word if len(word.tries) <= left else replace(word, tries=())
            left -= len(done[part.text].tries)
        words.append(done[part.text])
    return Trace(rules, tuple(stages), tuple(words))


def match(word: str, lookup: Callable[[str], int | None], rules: Rules) -> Word:
    """Greedy longest-match-first: take the longest piece that begins the word, then the longest that goes on, …

    `lookup` gives a piece's id, None where the vocabulary lacks it. If no piece fits at some character, the whole
    word becomes `[UNK]`, the pieces found before included. Source: Wu et al. 2016, section 4.1; google-research/bert.
    """
    unknown = ((rules.unk_token,), (lookup(rules.unk_token) or 0,))
    if len(word) > rules.max_characters:
        return Word(word, *unknown, why_unknown=TOO_LONG)
    tries: list[Try] = []
    hits: list[Try] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = (rules.prefix if start else "") + word[start:end]
            tries.append(Try(start, end, piece, lookup(piece)))
            if tries[-1].id is not None:
                break
        if tries[-1].id is None:
            return Word(word, *unknown, tries=tuple(tries), why_unknown=NO_PIECE, stuck_at=start)
        hits.append(tries[-1])
        start = tries[-1].end
    ids = tuple(hit.id for hit in hits if hit.id is not None)
    return Word(word, tuple(hit.piece for hit in hits), ids, tuple(tries))


def split_special(text: str, rules: Rules) -> list[Part]:
    """`text` cut around the special tokens written in it, which the tokenizer takes out before anything else."""
    if not rules.special_tokens:
        return [Part(text)]
    pattern = "(" + "|".join(re.escape(token) for token in rules.special_tokens) + ")"  # longest first
    return [Part(part, bool(index % 2)) for index, part in enumerate(re.split(pattern, text)) if part]


def chunks(tokenizer: Any, text: str | None) -> list[str]:
    """The stretches of `text` between white space as the tokenizer sees it: traced one by one they give the same
    tokens as the whole text does."""
    clean = _only("clean_text") if read_rules(tokenizer).clean_text else str
    typed = clean_text(text)
    space = {character for character in set(typed) if clean(character).isspace()}
    return "".join(" " if character in space else character for character in typed).split(" ")


def _only(name: str) -> Callable[[str], str]:
    """The tokenizer's normalizer with nothing but this step switched on."""
    switches = dict.fromkeys(SWITCHES, False) | {name: True}
    return BertNormalizer(**switches).normalize_str


def _changes(step: Callable[[str], str], parts: list[Part]) -> tuple[tuple[str, str], ...]:
    """Each different character that `step` changes, in order of appearance, with what it becomes."""
    characters = dict.fromkeys("".join(part.text for part in parts if not part.special))
    return tuple((old, new) for old in characters if (new := step(old)) != old)


def _split(parts: list[Part], splitter: Any) -> tuple[Part, ...]:
    words: list[Part] = []
    for part in parts:
        words += [part] if part.special else [Part(word) for word, _ in splitter.pre_tokenize_str(part.text)]
    return tuple(words)

"""One word in several sentences: its position in each, its vector at every layer, and its static one."""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from demos.bert.embeddings.similarity import check_tokens, cosine_matrix
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.batches.packing import all_states
from demos.bert.model.batches.token_lists import padded_batches
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.text import clean_text
from demos.errors import UserError

MAX_LINES = 16
MAX_USES = 24  # a word may occur in a line twice
MAX_WORD = 60  # characters
BATCH_TOKENS = 1_024  # all layers of so many tokens are held at once
UNSPACED = 0x2E80  # from here on: the scripts without spaces between words


@dataclass(frozen=True)
class Use:
    """A word at one place of one sentence: characters [start, end). `sense` numbers its group; None is unknown."""

    sentence: str
    start: int
    end: int
    sense: int | None = None


def clean_word(word: str | None) -> str:
    """The word looked for, on one line. Raises UserError for none, or one of more than MAX_WORD characters."""
    cleaned = " ".join(clean_text(word, "The word").split())
    if not cleaned:
        raise UserError("Write the word to search for.")
    if len(cleaned) > MAX_WORD:
        raise UserError(f"The word has {len(cleaned):,} characters; the limit is {MAX_WORD}.")
    return cleaned


def find_word(sentence: str, word: str) -> list[tuple[int, int]]:
    """Each place of `word` as a whole word of `sentence`, capitals or not: characters [start, end)."""
    before = r"(?<!\w)" if _bounded(word[0]) else ""
    after = r"(?!\w)" if _bounded(word[-1]) else ""
    pattern = before + r"\s+".join(map(re.escape, word.split())) + after
    return [match.span() for match in re.finditer(pattern, sentence, re.IGNORECASE)]


def read_uses(word: str, texts: str | None) -> list[Use]:
    """Every use of `word` in `texts`, a sentence a line; an empty line begins the next sense.

    Raises UserError for more than MAX_LINES lines, for a line without the word, naming it, and as `clean_text` does.
    """
    text = clean_text(texts, "The list").replace("\r\n", "\n").replace("\r", "\n")
    groups = [[line.strip() for line in part.split("\n") if line.strip()] for part in re.split(r"\n\s*\n", text)]
    groups = [group for group in groups if group]
    count = sum(map(len, groups))
    if count > MAX_LINES:
        raise UserError(f"There are {count:,} lines; the limit is {MAX_LINES}.")
    uses: list[Use] = []
    number = 0
    for sense, group in enumerate(groups):
        for line in group:
            number += 1
            places = find_word(line, word)
            if not places:
                raise UserError(f"Line {number}, “{_begin(line)}”, does not contain the word “{word}”.")
            uses += [Use(line, start, end, sense) for start, end in places]
    return uses


def bar_uses(word: str, texts: Sequence[str | None], listed: Sequence[Use]) -> list[Use]:
    """The uses of `word` in the sentence bar's texts, of unknown sense; without those that are listed already."""
    known = {use.sentence for use in listed}
    lines = [" ".join(clean_text(text, "The sentence").split()) for text in texts]
    return [
        Use(line, start, end)
        for line in dict.fromkeys(lines)
        if line and line not in known
        for start, end in find_word(line, word)
    ]


def check_uses(loaded: LoadedModel, uses: Sequence[Use]) -> None:
    """Raises UserError for fewer than two uses, more than MAX_USES, or sentences of too many tokens in all."""
    if len(uses) < 2:
        raise UserError("At least two uses of the word are needed; write one sentence per line.")
    if len(uses) > MAX_USES:
        raise UserError(f"The word is used {len(uses):,} times; the limit is {MAX_USES}.")
    check_tokens(loaded, {use.sentence for use in uses}, "The sentences have")


def word_pieces(encoding: Encoding, use: Use) -> list[int]:
    """The tokens that the word was cut into, as indices. Raises UserError where the model reads none of it."""
    pieces = [index for index, (a, b) in enumerate(encoding.offsets) if a < use.end and b > use.start]
    if not pieces:
        word = use.sentence[use.start : use.end]
        why = "it comes after the limit of 512 tokens" if encoding.dropped else "the tokenizer removes it"
        raise UserError(f"There is no token for “{word}” in “{_begin(use.sentence)}”: {why}.")
    return pieces


def word_states(loaded: LoadedModel, uses: Sequence[Use]) -> Generator[Encoded, None, np.ndarray]:
    """The word's vector in each use, at every layer: float32 [m, L + 1, d], read-only; yields after each batch.

    The mean of its pieces where it was cut. Of each batch only these rows are kept. Raises UserError as `word_pieces`.
    """
    sentences = list(dict.fromkeys(use.sentence for use in uses))
    encodings = [encode(loaded.tokenizer, sentence) for sentence in sentences]
    pieces = [word_pieces(encodings[sentences.index(use.sentence)], use) for use in uses]
    config = loaded.model.config
    states = np.empty((len(uses), config.num_hidden_layers + 1, config.hidden_size), dtype=np.float32)
    done = 0
    for rows in padded_batches([len(encoding) for encoding in encodings], BATCH_TOKENS):
        batch = all_states(loaded.model, [encodings[row].input_ids for row in rows])
        for row, hidden in zip(rows, batch, strict=True):  # [L + 1, n, d]
            for at, use in enumerate(uses):
                if use.sentence == sentences[row]:
                    states[at] = hidden[:, pieces[at]].mean(axis=1)
        done += len(rows)
        yield Encoded(done, len(sentences))
    states.flags.writeable = False
    return states


def static_vectors(loaded: LoadedModel, uses: Sequence[Use]) -> np.ndarray:
    """The word's row of the model's word-embedding table in each use (the mean of its pieces' rows): float32 [m, d].

    It knows no sentence: all that word2vec (Mikolov et al. 2013) and GloVe (Pennington et al. 2014) have of a word.
    """
    table = loaded.model.get_input_embeddings().weight
    rows = []
    for use in uses:
        encoding = encode(loaded.tokenizer, use.sentence)
        ids = [encoding.input_ids[piece] for piece in word_pieces(encoding, use)]
        rows.append(table[ids].mean(dim=0).detach().numpy())
    return np.stack(rows)


def use_cosines(states: np.ndarray) -> np.ndarray:
    """The cosine of every two uses at every layer: [m, L + 1, d] -> float64 [L + 1, m, m]."""
    return np.stack([cosine_matrix(states[:, layer]) for layer in range(states.shape[1])])


@dataclass(frozen=True)
class Contrast:
    """The mean cosine of two uses by layer, [L + 1]: of one sense, and of different senses; and how many pairs."""

    same: np.ndarray
    different: np.ndarray
    same_pairs: int
    different_pairs: int

    @property
    def gaps(self) -> np.ndarray:
        """Same sense less different senses at each layer, [L + 1]."""
        return self.same - self.different


def contrast(cosines: np.ndarray, senses: Sequence[int | None]) -> Contrast | None:
    """Average `cosines` [L + 1, m, m] over the pairs whose senses are known; None without a pair of either kind."""
    known = [index for index, sense in enumerate(senses) if sense is not None]
    pairs = np.array(list(combinations(known, 2)), dtype=int).reshape(-1, 2)
    alike = np.array([senses[i] == senses[j] for i, j in pairs], dtype=bool)
    if not alike.any() or alike.all():
        return None
    values = cosines[:, pairs[:, 0], pairs[:, 1]]  # [L + 1, pairs]
    same, different = values[:, alike], values[:, ~alike]
    return Contrast(same.mean(axis=1), different.mean(axis=1), same.shape[1], different.shape[1])


def _bounded(letter: str) -> bool:
    """Whether a word that begins or ends in this ends where another kind of character follows."""
    return (letter.isalnum() or letter == "_") and ord(letter) < UNSPACED


def _begin(line: str) -> str:
    return line if len(line) <= 40 else line[:39].rstrip() + "…"

"""The bundled entity sentences: valid BIO, balanced, varied, and no name, neighbour or length gives the tag away."""

import itertools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

import pytest

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.training.tasks.entities.scores import Span, spans_of
from tests.training.hand_written_data import DATA, SPLITS, sheet_of

PATH = DATA / "entities.conll"
TYPES = ("PER", "LOC", "ORG")
TAGS = ("O", *(f"{prefix}-{kind}" for kind in TYPES for prefix in "BI"))
LONGEST = 3  # of an entity, in words: one class of length for all that have as many or more


class Sentence(NamedTuple):
    split: str
    tokens: list[str]
    tags: list[str]

    @property
    def text(self) -> str:
        return " ".join(self.tokens)

    @property
    def spans(self) -> list[Span]:
        return spans_of(self.tags, strict=True)

    @property
    def names(self) -> list[tuple[str, str]]:
        """Each entity in lower case, and its type."""
        return [(" ".join(self.tokens[start:end]).lower(), kind) for start, end, kind in self.spans]


def f1(gold: list[list[Span]], predicted: list[list[Span]]) -> float:
    """Micro-averaged over exact spans with their types."""
    hits = sum(len(set(g) & set(p)) for g, p in zip(gold, predicted, strict=True))
    return 2 * hits / (sum(map(len, gold)) + sum(map(len, predicted)))


def most_frequent(pairs: Iterable[tuple[Hashable, str]]) -> dict[Hashable, str]:
    """The value seen most often with each key; of several the first seen."""
    counts: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
    for key, value in pairs:
        counts[key][value] += 1
    return {key: seen.most_common(1)[0][0] for key, seen in counts.items()}


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    read = []
    for block in PATH.read_bytes().decode("utf-8").removesuffix("\n\n").split("\n\n"):
        comment, *lines = block.split("\n")
        tokens, tags = zip(*(line.split("\t") for line in lines), strict=True)
        read.append(Sentence(comment.removeprefix("# split = "), list(tokens), list(tags)))
    return read


@pytest.fixture(scope="module")
def sheet() -> str:
    return sheet_of(PATH.name)


def of(sentences: list[Sentence], split: str) -> list[Sentence]:
    return [sentence for sentence in sentences if sentence.split == split]


def test_f1_counts_only_exact_spans_of_the_right_type() -> None:
    gold = [[(0, 2, "PER"), (3, 4, "LOC")], []]
    assert f1(gold, gold) == 1
    assert f1(gold, [[(0, 2, "ORG"), (3, 4, "LOC")], [(0, 1, "PER")]]) == pytest.approx(2 / 5)
    assert f1(gold, [[(0, 1, "PER")], []]) == 0


def test_form_of_the_file(sentences: list[Sentence]) -> None:
    text = PATH.read_bytes().decode("utf-8")
    assert text.endswith("\n\n")
    assert "\n\n\n" not in text
    assert "\r" not in text
    for line in text.split("\n"):
        assert re.fullmatch(r"|# split = \w+|[^\s]+\t[BIO][-A-Z]*", line), line
    assert {sentence.split for sentence in sentences} == set(SPLITS)
    assert "Jim Henson" in sentences[0].text
    assert sentences[0].split == "train"


def test_tokens_are_cut_as_in_conll_2003(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        for token in sentence.tokens:
            assert not any(unicodedata.category(c).startswith("C") for c in token), token
            assert all(c.isalnum() or c.isascii() for c in token), f"curly or long punctuation: {token!r}"
            known = token in ("'s", "'ll", "'ve", "n't") or re.fullmatch(r"[A-Z]\.", token)
            assert known or re.fullmatch(r"\w+(-\w+)*|\d+([.,:-]\d+)+|[.,:;?!\"'&-]", token), (token, sentence.text)


def test_valid_bio(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        assert set(sentence.tags) <= set(TAGS), sentence
        for before, tag in itertools.pairwise(["O", *sentence.tags]):
            if tag.startswith("I-"):
                assert before in (f"B-{tag[2:]}", tag), sentence


def test_size_and_balance(sentences: list[Sentence]) -> None:
    assert len(sentences) >= 280
    for split, share in zip(SPLITS, (0.7, 0.1, 0.2), strict=True):
        part = of(sentences, split)
        assert len(part) / len(sentences) == pytest.approx(share, abs=0.01)
        kinds = Counter(kind for sentence in part for *_, kind in sentence.spans)
        assert max(kinds.values()) <= 1.2 * min(kinds.values()), (split, kinds)
        without = sum(not sentence.spans for sentence in part)
        assert without / len(part) == pytest.approx(0.15, abs=0.03), split
        assert sum(len(sentence.spans) >= 3 for sentence in part) >= 0.08 * len(part), split


def test_datasheet_counts(sentences: list[Sentence]) -> None:
    rows = re.findall(r"^\| (\w+) +((?:\| +\d+ )+)\|$", PATH.with_suffix(".md").read_text(encoding="utf-8"), re.M)
    expected = {}
    for name, part in [*((split, of(sentences, split)) for split in SPLITS), ("all", sentences)]:
        kinds = Counter(kind for sentence in part for *_, kind in sentence.spans)
        tokens = sum(len(sentence.tokens) for sentence in part)
        without = sum(not sentence.spans for sentence in part)
        expected[name] = [len(part), without, tokens, *(kinds[kind] for kind in TYPES)]
    assert {name: [int(cell) for cell in cells.split("|") if cell.strip()] for name, cells in rows} == expected


def test_datasheet_figures(sentences: list[Sentence], sheet: str) -> None:
    tags = [tag for sentence in sentences for tag in sentence.tags]
    assert f"{tags.count('O') / len(tags):.0%} of the tokens are O" in sheet
    lengths = sorted(len(sentence.tokens) for sentence in sentences)
    assert f"{lengths[0]} to {lengths[-1]} tokens, {lengths[len(lengths) // 2]} in the middle" in sheet
    entities = [(end - start, kind) for sentence in sentences for start, end, kind in sentence.spans]
    for kind in TYPES:
        single = [length == 1 for length, one in entities if one == kind]
        assert f"{sum(single) / len(single):.0%} of the {kind}" in sheet
    many = sum(len(sentence.spans) >= 3 for sentence in sentences)
    assert f"{many} sentences have three entities or more" in sheet


def test_most_names_of_the_test_part_are_new(sentences: list[Sentence], sheet: str) -> None:
    known = {name for sentence in of(sentences, "train") for name, _ in sentence.names}
    new = [name not in known for sentence in of(sentences, "test") for name, _ in sentence.names]
    assert sum(new) / len(new) >= 2 / 3
    assert f"{sum(new) / len(new):.0%} of the {len(new)} test entities" in sheet


def test_ambiguous_names_occur_in_each_sense(sentences: list[Sentence]) -> None:
    senses: defaultdict[str, set[str]] = defaultdict(set)
    for sentence in sentences:
        for name, kind in sentence.names:
            senses[name].add(kind)
        for token, tag in zip(sentence.tokens, sentence.tags, strict=True):
            if tag == "O":
                senses[token.lower()].add("O")
    listed = re.findall(
        r"^\| ((?:PER|LOC|ORG|O)(?:, (?:PER|LOC|ORG|O))+) +\| ([^|]+) \|$",
        PATH.with_suffix(".md").read_text(encoding="utf-8"),
        re.M,
    )
    assert sum(len(names.split(", ")) for _, names in listed) >= 20
    for kinds, names in listed:
        for name in names.strip().split(", "):
            assert senses[name.lower()] == set(kinds.split(", ")), name


def test_word_pieces_cut_many_names(sentences: list[Sentence], store: ModelStore, sheet: str) -> None:
    tokenizer = store.tokenizer(BUNDLED)
    names = [name for sentence in sentences for name, _ in sentence.names]
    pieces = tokenizer(names, add_special_tokens=False)["input_ids"]
    cut = [any(piece.startswith("##") for piece in tokenizer.convert_ids_to_tokens(ids)) for ids in pieces]
    assert f"{sum(cut) / len(cut):.0%} of the entities" in sheet
    assert sum(cut) / len(cut) >= 0.3
    assert tokenizer.tokenize("Loganair Henson") == ["logan", "##air", "henson"]


def test_a_list_of_the_training_words_does_not_find_the_names(sentences: list[Sentence], sheet: str) -> None:
    train, test = of(sentences, "train"), of(sentences, "test")
    table = most_frequent(pair for one in train for pair in zip(one.tokens, one.tags, strict=True))
    predicted = [spans_of([table.get(token, "O") for token in one.tokens], strict=True) for one in test]
    baseline = f1([one.spans for one in test], predicted)
    assert 0 < baseline < 0.3
    assert f"gets an entity F1 of {baseline:.2f} on test" in sheet


def test_capital_letters_tell_neither_all_names_nor_their_types(sentences: list[Sentence], sheet: str) -> None:
    """Runs of words with a capital letter: even with the type given for free, a third is missing or wrong."""
    test = of(sentences, "test")
    runs = []
    for sentence in test:
        upper = [token[0].isupper() for token in sentence.tokens]
        runs.append(
            spans_of(["O" if not u else "I-PER" if b else "B-PER" for b, u in itertools.pairwise([False, *upper])])
        )
    untyped = f1([[(start, end, "PER") for start, end, _ in one.spans] for one in test], runs)
    assert untyped < 0.8
    typed = f1([one.spans for one in test], runs)
    assert f"F1 of {untyped:.2f} before any type is named and of {typed:.2f} with PER for all" in sheet


@pytest.mark.parametrize(
    ("cue", "key"),
    [
        ("the word before", lambda one, start, end: one.tokens[start - 1].lower() if start else ""),
        ("the word after", lambda one, start, end: one.tokens[end].lower() if end < len(one.tokens) else ""),
        ("its length", lambda one, start, end: min(end - start, LONGEST)),
        ("its place", lambda one, start, end: start),
    ],
)
def test_no_single_cue_gives_the_type_away(
    sentences: list[Sentence], sheet: str, cue: str, key: Callable[[Sentence, int, int], Hashable]
) -> None:
    pairs: dict[str, list[tuple[Hashable, str]]] = {
        split: [(key(one, start, end), kind) for one in of(sentences, split) for start, end, kind in one.spans]
        for split in ("train", "test")
    }
    table = most_frequent(pairs["train"])
    commonest = Counter(kind for _, kind in pairs["train"]).most_common(1)[0][0]
    right = sum(table.get(seen, commonest) == kind for seen, kind in pairs["test"]) / len(pairs["test"])
    assert right < 0.6
    assert f"{cue} {right:.2f}" in sheet

"""Entity files of every form, good and broken; splits; a typed sentence's words."""

import json
import re

import pytest

from demos.errors import UserError
from demos.training.data.annotated.spans import split_words
from demos.training.data.tables import Record
from demos.training.sources import SOURCES, load_file
from demos.training.tasks.entities.data import MAX_TYPED_WORDS, build_entities, example_of
from demos.training.tasks.entities.files import read_tagged, tagged_rows
from demos.training.tasks.entities.tags import MAX_WORD, MAX_WORDS, TaggedRow

GOOD = "Ann\tB-PER\nLee\tI-PER\nslept\tO\n\nin\tO\nParis\tB-LOC\n"


def read(text: str, name: str = "names.conll") -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(row.words, row.tags) for row in read_tagged(text.encode(), name).rows]


WANTED = [(("Ann", "Lee", "slept"), ("B-PER", "I-PER", "O")), (("in", "Paris"), ("O", "B-LOC"))]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("two.conll", GOOD),
        ("windows.conll", GOOD.replace("\n", "\r\n")),
        ("blank.conll", GOOD.replace("\n\n", "\n\t\n")),
        ("spaces.txt", GOOD.replace("\t", " ")),
        ("two.tsv", GOOD),
        (
            "four.conll",
            "-DOCSTART- -X- -X- O\n\nAnn NNP B-NP B-PER\nLee NNP I-NP I-PER\nslept VBD B-VP O\n\n\nin IN B-PP O\n"
            "Paris NNP B-NP B-LOC",
        ),
        ("iob1.conll", GOOD.replace("B-", "I-")),
        ("iobes.conll", GOOD.replace("I-PER", "E-PER").replace("B-LOC", "S-LOC")),
        ("bilou.conll", GOOD.replace("I-PER", "L-PER").replace("B-LOC", "U-LOC")),
        ("rows.csv", "tokens,tags\nAnn Lee slept,B-PER I-PER O\nin Paris,O B-LOC\n"),
        ("rows.tsv", 'tokens\tner_tags\n["Ann", "Lee", "slept"]\t["B-PER", "I-PER", "O"]\nin Paris\tO B-LOC\n'),
        (
            "rows.jsonl",
            '{"tokens": ["Ann", "Lee", "slept"], "ner_tags": ["B-PER", "I-PER", "O"]}\n'
            '{"tokens": "in Paris", "ner_tags": "O B-LOC"}\n',
        ),
        (
            "words.csv",
            "Sentence #,Word,POS,Tag\nSentence: 1,Ann,NNP,B-PER\n,Lee,NNP,I-PER\n,slept,VB,O\n"
            "Sentence: 2,in,IN,O\n,Paris,NNP,B-LOC\n",
        ),
    ],
)  # fmt: skip
def test_every_form_says_the_same(name: str, text: str) -> None:
    assert read(text, name) == WANTED


def test_what_was_done_to_the_tags_is_told() -> None:
    notes = {
        scheme: {row.note for row in read_tagged(text.encode(), "x.conll").rows}
        for scheme, text in {
            "BIO": GOOD,
            "IOB1": GOOD.replace("B-", "I-"),
            "IOBES": GOOD.replace("B-LOC", "S-LOC"),
            "BILOU": GOOD.replace("B-LOC", "U-LOC"),
        }.items()
    }
    assert notes.pop("BIO") == {""}
    assert all(scheme in note for scheme, found in notes.items() for note in found)


def test_iob1_keeps_neighbours_apart() -> None:
    ((_, tags),) = read("Ann I-PER\nLee I-PER\nBob B-PER\nin O\nYork I-LOC\nMinster I-ORG\n")
    assert tags == ("B-PER", "I-PER", "B-PER", "O", "B-LOC", "B-ORG")


def test_split_comments_hold_until_the_next_and_a_hash_may_be_a_word() -> None:
    text = "# text = a comment\n# split = train\na\tO\n\n#\tO\nb\tO\n\n# split = dev\nc\tO\n"
    rows = read_tagged(text.encode(), "x.conll").rows
    assert [(row.words, row.split, row.number) for row in rows] == [
        (("a",), "train", 3), (("#", "b"), "train", 5), (("c",), "dev", 9),
    ]  # fmt: skip
    assert read("# O\nb O\n")[0][0] == ("#", "b")


BROKEN = {
    "nothing": ("x.conll", "", "no sentences"),
    "blank lines": ("x.conll", "\n\n \n\t\n", "no sentences"),
    "ragged": ("x.conll", GOOD + "\nx\ty\tO\n", "Line 8 has 3 columns, but the first line has 2"),
    "no tag": ("x.conll", "Ann B-PER\nslept\n", "Line 2 has one column"),
    "empty tag": ("x.conll", "Ann\tB-PER\nslept\t\n", "Line 2 has a token and no tag"),
    "empty token": ("x.conll", "Ann\tB-PER\n\tO\n", "Line 2 has a tag and no token"),
    "many columns": ("x.conll", "a b c d O\n", "Line 1 has 5 columns"),
    "no BIO": ("x.conll", "Ann PER\n", "Line 1 has the tag 'PER', which is neither O nor"),
    "numbers": ("x.jsonl", '{"tokens": ["Ann"], "ner_tags": [3]}', "Row 1 has the tag '3'"),
    "no type": ("x.conll", "Ann B-\n", "Line 1 has the tag 'B-'"),
    "long type": ("x.conll", f"Ann B-{'x' * 99}\n", "Line 1 has a type of 99 characters"),
    "long word": ("x.conll", f"{'x' * (MAX_WORD + 1)} O\n", "Line 1 has a word of 201 characters"),
    "endless": ("x.conll", "a O\n" * (MAX_WORDS + 1), "begins in line 1 has over 1,000 words"),
    "split": ("x.conll", "# split = tset\na O\n", "Line 1 names the split 'tset'"),
    "prose": ("x.txt", "We went to Paris in the spring.\n", "Line 1 has 7 columns"),
    "lengths": ("x.jsonl", '{"tokens": ["a", "b"], "tags": ["O"]}', "Row 1 has 2 tokens and 1 tags"),
    "no tokens": ("x.jsonl", '{"tokens": [], "tags": []}', "Row 1 has no tokens"),
    "nested": ("x.jsonl", '{"tokens": [["a"]], "tags": ["O"]}', "Row 1's tokens are not a plain list"),
    "object": ("x.jsonl", '{"tokens": {"a": 1}, "tags": ["O"]}', "Row 1's tokens are neither"),
    "empty word": ("x.jsonl", '{"tokens": ["a", " "], "tags": ["O", "O"]}', "Row 1 has an empty token"),
    "no column": ("x.csv", "id,tags\n1,O\n", "No column is named tokens"),
    "one word a row": ("x.csv", "word,tag\nAnn,B-PER\nslept,O\n", "sentence_id"),
    "gzip": ("x.conll", "\x1f\x8b\x08\x00", "compressed"),
}


@pytest.mark.parametrize("which", BROKEN)
def test_what_is_broken_is_told_in_one_sentence_that_names_the_line(which: str) -> None:
    name, text, said = BROKEN[which]
    with pytest.raises(UserError, match=re.escape(said)) as caught:
        read_tagged(text.encode("latin-1"), name)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def rows(count: int, tag: str = "B-PER", split: str = "") -> list[TaggedRow]:
    return [TaggedRow(k, (f"word{k}", "slept"), (tag, "O"), split) for k in range(count)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (rows(9), "9 different sentences; at least 10"),
        (rows(3) * 8, "3 different sentences"),
        (rows(30, "O"), "No training sentence has an entity"),
        ([TaggedRow(k, (f"w{k}",), (f"B-T{k}",)) for k in range(40)], "the limit is 20"),
        ([*rows(20, split="train"), TaggedRow(90, ("nobody",), ("O",), "test")], "No test sentence has an entity"),
        ([*rows(20, split="train"), TaggedRow(90, ("nobody",), ("O",))], "Row 90 has no split"),
    ],
)
def test_too_little_or_too_much_is_told(given: list[TaggedRow], said: str) -> None:
    with pytest.raises(UserError, match=said):
        build_entities("x", given)


def test_splits_are_drawn_by_seed_without_duplicates_and_a_type_never_trained_is_told() -> None:
    given = [*rows(100), *rows(5)]
    one, again, other = (build_entities("x", given, seed=seed) for seed in (0, 0, 1))
    texts = [{example.text for example in split} for split in (one.train, one.validation, one.test)]
    assert [len(texts) for texts in texts] == [72, 8, 20]
    assert len(set.union(*texts)) == 100
    assert one == again
    assert one.test != other.test
    assert "5 sentences removed" in " ".join(one.notes)
    strange = [*rows(20, split="train"), TaggedRow(99, ("x",), ("B-ODD",), "test")]
    assert "No training sentence has an entity of type ODD" in " ".join(build_entities("x", strange).notes)
    assert build_entities("x", given, max_train=30).train != build_entities("x", given, max_train=30, seed=1).train


def test_the_bundled_set_is_read_as_its_sheet_says() -> None:
    data = SOURCES["entities"].load(0, 1_500)
    assert (len(data.train), len(data.validation), len(data.test)) == (267, 39, 77)  # type: ignore[arg-type]
    assert data.labels == ("O", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-PER", "I-PER")  # type: ignore[attr-defined]
    assert data.counts("test") == (38, 36, 40)  # type: ignore[attr-defined]
    assert sum(data.label_counts("train")) == 3644  # type: ignore[attr-defined]
    assert data.notes == ()  # type: ignore[attr-defined]


def test_a_second_file_is_the_test_split(tmp_path: object) -> None:
    first, second = (tmp_path / name for name in ("a.conll", "b.jsonl"))  # type: ignore[operator]
    first.write_text("".join(f"w{k} B-PER\nslept O\n\n" for k in range(30)), encoding="utf-8")
    second.write_text(json.dumps({"tokens": ["Ann"], "tags": ["B-PER"]}), encoding="utf-8")
    data = load_file("entities", first, second)
    assert [example.text for example in data.test] == ["Ann"]
    assert data.name == "a.conll and b.jsonl"


def test_records_of_a_hub_data_set() -> None:
    record = Record(1, {"tokens": ["Ann", "slept"], "tags": ["B-PER", "O"], "split": "train", "group": ""})
    (row,) = tagged_rows([record])
    assert (row.words, row.tags, row.split) == (("Ann", "slept"), ("B-PER", "O"), "train")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Jim Henson's frog didn't (really) cost $3.50.", "Jim Henson 's frog did n't ( really ) cost $ 3.50 ."),
        ("It ended 6-4 in the U.S., O'Brien said…", "It ended 6-4 in the U.S. , O'Brien said …"),
        ("@paul #tag: they'll come--no...", "@paul #tag : they 'll come--no ..."),
        ("Paris,London;\"Rome\"", 'Paris , London ; " Rome "'),
        ("हिन्दी Zoë", "हिन्दी Zoë"),
    ],
)  # fmt: skip
def test_a_typed_sentence_is_cut_as_conll_cuts(text: str, words: str) -> None:
    assert split_words(text) == words.split()
    assert example_of([text]).labels == (0,) * len(words.split())


def test_the_rule_cuts_our_own_sentences_as_their_file_has_them() -> None:
    """Joined again as people write, nine in ten come out the same: the rule is that of the data, roughly."""
    data = SOURCES["entities"].load(0, 1_500)
    same = 0
    for example in data.train:
        joined = re.sub(r" ([.,;:!?)]|'s|n't|'re|'ve|'ll|'d|'m)(?= |$)", r"\1", example.text).replace("( ", "(")
        same += tuple(split_words(joined)) == example.words
    assert same / len(data.train) > 0.9


@pytest.mark.parametrize("text", ["", "   \n", "word " * (MAX_TYPED_WORDS + 1), "x" * 20_001, "!" * 20_000])
def test_an_empty_or_an_endless_box_is_told(text: str) -> None:
    with pytest.raises(UserError):
        example_of([text])


@pytest.mark.parametrize("text", ["\ud800", "\x00\x01", "👨‍👩‍👧", "<script>${x}</script>", "'" * 200, "-" * 99])
def test_odd_text_has_words(text: str) -> None:
    assert example_of([text]).words

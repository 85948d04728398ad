"""Our rated pairs: their form, their bands, and that no sentence or pair comes twice."""

import re
from collections import Counter
from itertools import combinations
from pathlib import Path

from demos.training.data.rated_pairs import OURS, our_pairs

KINDS = {
    *("paraphrase", "topic", "detail", "unrelated", "entailment"),
    *("antonym", "negation", "number", "sense", "swap"),
}


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_the_file_has_its_form() -> None:
    lines = OURS.read_text(encoding="utf-8").split("\n")
    assert lines[0] == "score\tkind\tsentence1\tsentence2\tsplit"
    assert lines[-1] == ""
    assert all(line.count("\t") == 4 and '"' not in line for line in lines[:-1])
    pairs = our_pairs().pairs
    assert len(pairs) == len(lines) - 2
    assert {pair.kind for pair in pairs} == KINDS
    for pair in pairs:
        assert pair.score in {half / 2 for half in range(11)}
        for text in (pair.first, pair.second):
            assert text == text.strip()
            assert text[-1] in ".?!"
            assert 3 <= len(words(text)) <= 30


def test_each_split_has_its_share_of_every_part_of_the_scale() -> None:
    rows = [line.split("\t") for line in OURS.read_text(encoding="utf-8").splitlines()[1:]]
    ordered = [split for *_, split in sorted(rows, key=lambda row: float(row[0]))]
    pattern = ["train", "train", "test", "train", "validation", "train", "test", "train", "train"]
    assert ordered == [pattern[place % 9] for place in range(len(rows))]


def test_bands_are_about_equally_filled() -> None:
    pairs = our_pairs().pairs
    assert len(pairs) >= 160
    bands = Counter(int(pair.score) for pair in pairs)
    assert set(bands) == set(range(6))
    assert max(bands.values()) <= 1.1 * min(bands.values())


def test_no_sentence_comes_twice_and_no_two_pairs_are_near() -> None:
    texts = [(row, text) for row, pair in enumerate(our_pairs().pairs) for text in (pair.first, pair.second)]
    assert len({" ".join(words(text)) for _, text in texts}) == len(texts)
    runs = [(row, {tuple(words(text)[at : at + 3]) for at in range(len(words(text)) - 2)}) for row, text in texts]
    near = [
        (one, other)
        for (one, first), (other, second) in combinations(runs, 2)
        if one != other and len(first & second) > 0.5 * min(len(first), len(second))
    ]
    assert near == []


def test_the_datasheet_s_counts_are_the_file_s() -> None:
    sheet = Path(OURS).with_suffix(".md").read_text(encoding="utf-8")
    pairs = our_pairs().pairs
    bands = Counter(int(pair.score) for pair in pairs)
    assert f"| pairs  | {' | '.join(str(bands[band]) for band in range(6))} | {len(pairs)} |" in sheet
    for kind, count in Counter(pair.kind for pair in pairs).items():
        assert re.search(rf"{kind} \({count}[:)]", sheet.replace("\n", " ")), kind

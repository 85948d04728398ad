"""Lists of sentences: lines, tables with and without a name, and one plain sentence for each bad file."""

import pytest

from demos.errors import UserError
from demos.training.data.lists import Listed, read_lines, read_list


def test_lines_without_blanks_and_repetitions() -> None:
    assert read_lines(" One.\r\n\nTwo  words.\rOne.\n") == Listed(("One.", "Two words."))
    assert read_list("\ufeffEins, zwei.\nDrei\tvier.\n".encode(), "a.TXT") == Listed(("Eins, zwei.", "Drei vier."))
    assert read_list("Grüße".encode("utf-16"), "a.txt").sentences == ("Grüße",)


def test_tables() -> None:
    named = b'id,Sentence,topic\n1,"One, and two",x\n2,Three,y\n'
    assert read_list(named, "a.csv") == Listed(("One, and two", "Three"), ("x", "y"))
    assert read_list(b"label;text\na;One\na;Two\n", "a.csv") == Listed(("One", "Two"))  # one topic is none
    assert read_list(b"text\ttopic\nOne\tx\nTwo\t\n", "a.tsv") == Listed(("One", "Two"))
    assert read_list(b'Only "one\nand two\n', "a.tsv") == Listed(('Only "one', "and two"))
    assert read_list(b"One\nTwo\n", "a.csv") == Listed(("One", "Two"))


@pytest.mark.parametrize(
    ("data", "name", "sentence"),
    [
        (b"", "a.txt", "The file has no sentence."),
        (b"text\n", "a.csv", "The file has no rows."),
        (b"a", "a.docx", "ends in '.docx' can't be read"),
        (b"PK\x03\x04...", "a.txt", "a zip archive"),
        (b"a\nb\xff", "a.txt", "Row 2 is not UTF-8"),
        (b"a,b\n1,2\n", "a.csv", "No column is named text; the first row has 'a', 'b'."),
        (b"text,b\n1,2\n3\n", "a.csv", "Row 3 has 1 column, but the first row has 2."),
        (b'text,b\n"1,2\n', "a.csv", "is broken"),
        (b"a" * 1_001, "a.txt", "Row 1 has 1,001 characters; the limit for one is 1,000."),
        ("\n".join(map(str, range(2_001))).encode(), "a.txt", "2,001 sentences; the limit is 2,000"),
        (b"x" * (5 * 2**20 + 1), "a.txt", "the limit is 5 MB"),
        (b"a\n" * 2_500_000, "a.txt", "more than 20,000 lines"),  # refused at once, not read for seconds
    ],
)
def test_a_bad_file_is_one_sentence(data: bytes, name: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        read_list(data, name)
    assert sentence in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_pasted_text_is_bounded() -> None:
    with pytest.raises(UserError, match="20,001 characters"):
        read_lines("a\n" * 10_000 + "a")
    with pytest.raises(UserError, match="The list has no sentence"):
        read_lines(" \n")

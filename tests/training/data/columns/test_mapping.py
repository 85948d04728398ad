"""Which column is which: choices as text, headers and titles, groups, HTML."""

import html as standard
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demos.errors import UserError
from demos.training.data.columns.headers import name_of
from demos.training.data.columns.mapping import find, parse_columns, print_columns
from demos.training.data.columns.markup import has_markup, without_markup
from demos.training.data.columns.profiles import profile_of
from demos.training.data.file_tables import read_table
from demos.training.data.tables import LABELLED
from demos.training.sources import load_file

NAMES = st.text(min_size=1, max_size=12).filter(lambda name: name.strip() == name)


@given(st.lists(st.tuples(st.sampled_from(["text", "label", "group"]), NAMES), max_size=6))
def test_a_choice_is_read_as_it_was_printed(pairs: list[tuple[str, str]]) -> None:
    assert parse_columns(print_columns(pairs)) == pairs


@pytest.mark.parametrize("wrong", ["text", "text=", "=a", "text=a,b", "x" * 1_001])
def test_another_form_is_one_sentence(wrong: str) -> None:
    with pytest.raises(UserError, match="Columns are chosen as text=NAME,label=NAME, not as"):
        parse_columns(wrong)


def test_titles_above_a_header_are_passed_over() -> None:
    body = "".join(f"{k},we like day {k},{('no', 'yes')[k % 2]}\n" for k in range(20))
    for above in ("Survey 2024\n", "Survey 2024,,\n\n,,\n", "Survey\nof the spring\n"):
        mapping = find(read_table(f"{above}Nr,Beitrag,Stimmung\n{body}".encode(), "a.csv"), LABELLED)
        assert mapping.columns == {"text": ["Beitrag"], "label": ["Stimmung"]}
        assert len(mapping.rows) == 20


def test_a_header_is_told_from_data() -> None:
    body = [f"{k};a word or two {k};{k % 2}" for k in range(12)]
    without = find(read_table("\n".join(body).encode(), "a.csv"), LABELLED)
    assert (without.named, without.columns) == (False, {"text": ["column 2"], "label": ["column 3"]})
    named = find(read_table("\n".join(["q1;q2;q3", *body]).encode(), "a.csv"), LABELLED)
    assert (named.named, named.columns) == (True, {"text": ["q2"], "label": ["q3"]})


def test_a_name_with_a_sign_that_is_not_seen_is_the_name() -> None:
    assert name_of(" \u200bText ") == "text"
    body = "".join(f"we like day {k},{('no', 'yes')[k % 2]}\n" for k in range(20))
    assert find(read_table(f"te\u200bxt,label\u00a0\n{body}".encode(), "a.csv"), LABELLED).sure


def test_of_two_texts_none_is_taken() -> None:
    rows = "".join(f"a long text {k},another text {k},{k % 2}\n" for k in range(20))
    mapping = find(read_table(f"p,q,r\n{rows}".encode(), "a.csv"), LABELLED)
    assert "text" not in mapping.places
    assert mapping.problem == "The text may be the column 'p' or 'q'; choose which it is."
    assert not mapping.sure


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([f"a day {k}" for k in range(20)], "text"),
        (["这部电影非常好看", "服务态度太差了"] * 9 + ["味道还可以吧"], "label"),
        ([f"这部电影非常好看{k}" for k in range(20)], "text"),
        (["yes", "no"] * 10, "label"),
        ([str(k % 5) for k in range(20)], "label"),
        ([str(k // 4) for k in range(40)], "running"),
        ([f"{k}.5" for k in range(20)], "number"),
        ([f"2024-01-{k + 1:02}" for k in range(20)], "date"),
        ([f"https://a.org/{k}" for k in range(20)], "address"),
        ([f"@user{k}" for k in range(20)], "address"),
        ([f"x-{k}" for k in range(20)], "id"),
        ([f"(ROOT (S we {k}))" for k in range(20)], "tree"),
        (["same"] * 20, "same"),
        (["", "x"] + [""] * 18, "empty"),
        ([["a"], ["b"]] * 10, "label"),
    ],
)
def test_what_a_column_holds(cells: list[object], kind: str) -> None:
    assert profile_of(cells).kind == kind


def test_rows_of_one_group_stay_in_one_split(tmp_path: Path) -> None:
    rows = "".join(f"the part {k} of it,{k % 2},s{k // 4}\n" for k in range(120))
    path = tmp_path / "a.csv"
    path.write_text(f"text,label,origin\n{rows}", encoding="utf-8")
    alone = load_file("sentence", path)
    data = load_file("sentence", path, columns="text=text,label=label,group=origin")
    assert "Rows of one group stay in one split." in data.notes
    assert "Rows of one group stay in one split." not in alone.notes
    group = {f"the part {k} of it": k // 4 for k in range(120)}
    splits = [{group[one.text] for one in split} for split in (data.train, data.validation, data.test)]
    assert not splits[0] & splits[1]
    assert not splits[0] & splits[2]
    assert not splits[1] & splits[2]
    sizes = [len(split) for split in (data.train, data.validation, data.test)]
    assert sizes == [84, 12, 24]  # a fifth, then about a tenth of the rest, in whole groups
    assert data == load_file("sentence", path, columns="text=text,label=label,group=origin")


def test_texts_that_contain_a_training_text_are_counted(tmp_path: Path) -> None:
    """Each long text stands there again as a part of another."""
    rows = "".join(f"the film number {k} was {('dull', 'fine')[k % 2]},{k % 2}\n" for k in range(60))
    rows += "".join(f"they said the film number {k} was {('dull', 'fine')[k % 2]} indeed,{k % 2}\n" for k in range(60))
    (tmp_path / "a.csv").write_text(f"text,label\n{rows}", encoding="utf-8")
    data = load_file("sentence", tmp_path / "a.csv")
    trained = [one.text for one in data.train]
    count = sum(
        any(f" {other} " in f" {one.text} " or f" {one.text} " in f" {other} " for other in trained)
        for one in data.test
    )
    assert count > 5
    assert any(
        note.startswith(f"{count} test texts contain a training text or are a part of one") for note in data.notes
    )


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Good.<br /><br />Really &amp; truly", "Good. Really & truly"),
        ("the craft#39;s \\$46", "the craft's $46"),
        ("<p class='x'>a</p>", "a"),
        ("I &lt;3 it", "I <3 it"),
        ("caf&eacute;", "café"),
        ("a < b and c > d, R&D; #1; x\n y", "a < b and c > d, R&D; #1; x\n y"),
    ],
)
def test_html_is_taken_out(written: str, plain: str) -> None:
    assert without_markup(written) == plain
    assert has_markup(written) is (written != plain)
    assert without_markup(standard.escape("so <b>it</b> is")) == "so <b>it</b> is"  # once, as a browser shows it

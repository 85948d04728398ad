"""Files as teachers have them, made here: name, content, and what the page says of each."""

import datetime
import io
import json
import zipfile
from collections.abc import Callable

import openpyxl

from demos.training.data.workbooks import MAX_CELLS, TOO_LONG
from tests.training.data.made_files import CONLL, FILMS, ITEM_NAMES, ITEMS, PAIRS, films, lines, squad, table
from tests.training.data.workbook_files import of_sheet, packed, parts_of, strings_part, with_part, workbook

CAFE = ("café “Zoë” für 5 €", "no")
SEMICOLONS = films(CAFE, between=";")
RATED = [(f"A dog, number {n}.", f"A cat, number {n}.", f"{n % 6},5") for n in range(8)]
RATED_NAMES = ("sentence1", "sentence2", "score")
SCORED = [(f"A dog, number {n}.", f"A cat, number {n}.", f"{n % 5},5") for n in range(60)]
FILM_ROWS = [("text", "label"), *FILMS]
BOOK = workbook(FILM_ROWS)
LINES = "\n".join(text for text, _ in FILMS)
QUOTED = '"' + '"\n"'.join(f'first line {k}\nand, the; second","{label}' for k, (_, label) in enumerate(FILMS)) + '"\n'
RECORDS = [{"text": text, "label": label} for text, label in FILMS]
QUESTIONS = [{"question": "What?", "context": f"bees {k}", "answer": "bees"} for k in range(12)]
TAGGED = [(f"Ann{k} slept", "B-PER O") for k in range(30)]


def hidden_first(rows: list[tuple[str, str]]) -> bytes:
    book = openpyxl.load_workbook(io.BytesIO(workbook([("secret",)], rows, first="Hidden")))
    book["Hidden"].sheet_state = "hidden"
    book.active = 1
    whole = io.BytesIO()
    book.save(whole)
    return whole.getvalue()


def bomb(size: int = 2**27) -> bytes:
    """A workbook of a few kilobytes a part, one of which unpacks to `size` bytes."""
    whole = io.BytesIO(BOOK)
    with zipfile.ZipFile(whole, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/media/a.xml", "w") as part:
        for _ in range(size // 2**20):
            part.write(bytes(2**20))
    return whole.getvalue()


CSV_SEMICOLON = "Read as CSV with ; between the columns, "
CSV_COMMA = "Read as CSV with commas between the columns, "
EUROPE, AMERICA = f"{CSV_SEMICOLON}Windows-1252.", f"{CSV_COMMA}Windows-1252."
LIST = "Read as a JSON list, UTF-8."
TABS = "Read as a table with tabs between the columns, "
EXCEL = "Read as an Excel workbook, the sheet “Sheet1”."
SENTENCES = "Read as text with one sentence per line, UTF-8."
BROKEN_BOOK = "The Excel workbook is broken; save it again, or save its sheet as CSV."
LOL = b'<!DOCTYPE x [<!ENTITY a "lol">' + b"".join(
    b'<!ENTITY %c "%s">' % (98 + k, b"&%c;" % (97 + k) * 10) for k in range(12)
)
OUTSIDE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">'

# what it is -> (its name, how it is read, what it holds, what the page says or how that begins)
FILES: dict[str, tuple[str, str, str | bytes | Callable[[], bytes], str]] = {
    # Excel's CSV
    "Excel's CSV in Europe": ("a.csv", "sentence", SEMICOLONS.encode("cp1252"), EUROPE),
    "with CRLF": ("a.csv", "sentence", SEMICOLONS.replace("\n", "\r\n").encode("cp1252"), EUROPE),
    "for the classifier": ("a.csv", "frozen", SEMICOLONS.encode("cp1252"), EUROPE),
    "of pairs": ("a.csv", "rated", table(RATED, RATED_NAMES, ";").encode("cp1252"), f"{CSV_SEMICOLON}UTF-8."),
    "of pairs, accents": (
        "a.csv", "rated", table([("Ça va ?", "Où ?", "3,5"), *RATED], RATED_NAMES, ";").encode("cp1252"),
        EUROPE,
    ),
    "of a list": ("a.csv", "list", SEMICOLONS.encode("cp1252"), EUROPE),
    "of scored pairs": (
        "a.csv", "similarity", table([("Ça va ?", "Où ?", "3,5"), *SCORED], RATED_NAMES, ";").encode("cp1252"), EUROPE,
    ),
    "Excel's CSV in America": ("a.csv", "sentence", films(CAFE).encode("cp1252"), AMERICA),
    "CSV UTF-8": ("a.csv", "sentence", SEMICOLONS.encode("utf-8-sig"), f"{CSV_SEMICOLON}UTF-8."),
    "Latin-1": ("a.csv", "sentence", films(("naïve", "no")).encode("latin-1"), AMERICA),
    "sep=;": ("a.csv", "sentence", "sep=;\r\n" + SEMICOLONS, f"{CSV_SEMICOLON}UTF-8."),
    "sep=, quoted, with a mark": ("a.csv", "sentence", '\ufeff"sep=,"\r\n' + films(CAFE), f"{CSV_COMMA}UTF-8."),
    "sep=| of pairs": ("a.csv", "rated", "sep=|\n" + table(RATED, RATED_NAMES, "|"), "Read as CSV with | between"),
    "sep=tab": ("a.csv", "sentence", "SEP=\t\n" + films(between="\t"), f"{TABS}UTF-8."),
    "sep=; alone": ("a.csv", "sentence", "sep=;\n", "The file has no rows."),
    "a broken row below sep=;": ("a.csv", "sentence", "sep=;\n" + SEMICOLONS + "a;b;c\n", "Row 43 has 3 columns"),
    "commas in a table of semicolons": (
        "a.csv", "sentence", "text, in full;label\n" + "".join(f"a, b, {k}, d;{c}\n" for k, (_, c) in enumerate(FILMS)),
        f"{CSV_SEMICOLON}UTF-8.",
    ),
    "Excel's Unicode text": ("a.txt", "sentence", films(CAFE, between="\t").encode("utf-16"), f"{TABS}UTF-16."),
    "Excel's Unicode text as a list": ("a.txt", "list", films(CAFE, between="\t").encode("utf-16"), f"{TABS}UTF-16."),
    "UTF-16 with its mark": ("a.csv", "sentence", films(CAFE).encode("utf-16"), f"{CSV_COMMA}UTF-16."),
    "UTF-16, the other way": ("a.csv", "pair", b"\xfe\xff" + table(PAIRS, ("s1", "s2", "label")).encode("utf-16-be"),
                              f"{CSV_COMMA}UTF-16."),
    "UTF-16 without its mark": ("a.csv", "sentence", films().encode("utf-16-le"), "The file seems to be UTF-16"),
    "UTF-32": ("a.csv", "sentence", films().encode("utf-32"), "Row 1 contains a NUL character"),
    "Cyrillic Windows": ("a.csv", "sentence", films(("привет", "да")).replace("film", "фильм").encode("cp1251"),
                         "Row 2 is not UTF-8 text; save the file as UTF-8."),
    "Chinese GBK": ("a.csv", "sentence", films().replace("film", "电影很好看").encode("gbk"), "Row 2 is not UTF-8"),
    "old-Mac line ends": ("a.csv", "sentence", films(CAFE).replace("\n", "\r").encode("cp1252"), AMERICA),
    "old-Mac line ends of a list": ("a.txt", "list", LINES.replace("\n", "\r"), SENTENCES),
    "old-Mac line ends of CoNLL": ("a.conll", "entities", CONLL.replace("\n", "\r"), "Read as CoNLL, one token"),
    "a quoted newline": ("a.csv", "sentence", "text,label\n" + QUOTED, f"{CSV_COMMA}UTF-8."),
    "a quoted newline between tabs": (
        "a.tsv", "sentence", "text\tlabel\n" + QUOTED.replace('","', '"\t"'), f"{TABS}UTF-8.",
    ),
    "an empty column at the end": ("a.csv", "sentence", films().replace("\n", ",\n"), f"{CSV_COMMA}UTF-8."),
    "empty rows at the end": ("a.csv", "sentence", SEMICOLONS + ";\n" * 40, f"{CSV_SEMICOLON}UTF-8."),
    "a row too wide": ("a.csv", "sentence", SEMICOLONS + "a;b;c\n", "Row 43 has 3 columns, but the first row has 2."),
    # JSON
    "JSON lines": ("a.jsonl", "sentence", lines(), "Read as JSON lines, UTF-8."),
    "JSON lines called json": ("a.json", "sentence", lines(), "Read as JSON lines, UTF-8."),
    "a JSON list": ("a.json", "sentence", json.dumps(RECORDS), LIST),
    "a pretty-printed list": ("a.json", "sentence", json.dumps(RECORDS, indent=2), LIST),
    "a pretty-printed list called jsonl": ("a.jsonl", "frozen", json.dumps(RECORDS, indent=4), "Read as a JSON"),
    "objects on several lines": (
        "a.jsonl", "sentence", "\n".join(json.dumps(row, indent=2) for row in RECORDS),
        "Read as JSON objects one after the other, UTF-8.",
    ),
    "a list in an object": ("a.json", "sentence", json.dumps({"n": 1, "data": RECORDS}, indent=1), "Read as a JSON"),
    "a list of questions in an object": (
        "a.json", "question", json.dumps({"data": QUESTIONS}, indent=1), LIST,
    ),
    "a JSON list of sentences": ("a.json", "list", json.dumps(RECORDS, indent=1), LIST),
    "pretty-printed pairs": (
        "a.json", "rated", json.dumps([dict(zip(RATED_NAMES, row, strict=True)) for row in RATED], indent=1),
        LIST,
    ),
    "pretty-printed SQuAD": (
        "a.json", "question", json.dumps(json.loads(squad("bees", "bees")), indent=2), "Read as SQuAD’s JSON, UTF-8.",
    ),
    "JSON in UTF-16": ("a.json", "sentence", json.dumps(RECORDS).encode("utf-16"), "Read as a JSON list, UTF-16."),
    "pretty-printed JSON, torn": (
        "a.json", "sentence", json.dumps(RECORDS, indent=1)[:200], "The file is not JSON (line 15)",
    ),
    "JSON with a remark": ("a.json", "sentence", "// films\n" + json.dumps(RECORDS, indent=1), "Row 1 is not JSON"),
    "a JSON text": ("a.json", "sentence", '"films"', "Row 1 is not a JSON object"),
    # Excel's own
    "a workbook": ("a.xlsx", "sentence", BOOK, EXCEL),
    "a workbook for the classifier": ("a.xlsx", "frozen", BOOK, EXCEL),
    "a workbook of sentences": ("a.xlsx", "list", workbook([(text,) for text, _ in FILMS]), EXCEL),
    "a workbook of pairs": ("a.xlsx", "pair", workbook([("s1", "s2", "label"), *PAIRS]), EXCEL),
    "a workbook of rated pairs": (
        "a.xlsx", "rated", workbook([RATED_NAMES, *((a, b, k / 2) for k, (a, b, _) in enumerate(RATED))]), EXCEL,
    ),
    "a workbook of labels": (
        "a.xlsx", "labels",
        workbook([("comment", "a", "b"), *((text, k % 2, k % 3 // 2) for k, (text, _) in enumerate(FILMS))]), EXCEL,
    ),
    "a workbook of items": ("a.xlsx", "choice", workbook([ITEM_NAMES, *ITEMS]), EXCEL),
    "a workbook of names": ("a.xlsx", "entities", workbook([("tokens", "tags"), *TAGGED]), EXCEL),
    "a workbook of questions": (
        "a.xlsx", "question", workbook([tuple(QUESTIONS[0]), *(tuple(row.values()) for row in QUESTIONS)]), EXCEL,
    ),
    "numbers, dates and truths for labels": (
        "a.xlsx", "sentence",
        workbook([("text", "label"), *((k, (1, 2.0, True, datetime.datetime(2024, 5, 1))[k % 4]) for k in range(40))]),
        EXCEL,
    ),
    "a workbook called csv": ("a.csv", "sentence", BOOK, EXCEL),
    "a hidden sheet first": ("a.xlsx", "sentence", hidden_first(FILM_ROWS), EXCEL.replace("1", "")),
    "a sheet with a long name": (
        "a.xlsx", "sentence", workbook(FILM_ROWS, first="Films & “more”, of ' all kinds"),
        "Read as an Excel workbook, the sheet “Films & “more”, of ' all kinds”.",
    ),
    "formulas without values": (
        "a.xlsx", "sentence", workbook([("text", "label"), *((f"film {k}", '=IF(1,"a","b")') for k in range(30))]),
        "Row 2 has no label; 30 of 30 rows can't be used.",
    ),
    "an empty workbook": ("a.xlsx", "sentence", workbook([]), "The file has no rows."),
    "a workbook of other columns": ("a.xlsx", "pair", BOOK, "No column is named sentence1 and sentence2"),
    "a label that lacks": ("a.xlsx", "sentence", workbook([*FILM_ROWS, (), ("odd", None)]), EXCEL),
    "too many columns": ("a.xlsx", "sentence", workbook([range(101)]), "The sheet has more than 100 columns."),
    "a far corner": (
        "a.xlsx", "sentence",
        of_sheet('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', BOOK),
        "The file has one column",
    ),
    "too many rows": (
        "a.xlsx", "sentence",
        lambda: of_sheet("".join(f'<row r="{k}"><c r="A{k}"><v>1</v></c></row>' for k in range(1, 20_003)), BOOK),
        "The file has more than 20,000 rows.",
    ),
    "too many cells": (
        "a.xlsx", "sentence", lambda: of_sheet('<row r="1">' + "<c/>" * (MAX_CELLS + 1) + "</row>", BOOK),
        "The workbook has more than 200,000 cells",
    ),
    "a zip bomb": ("a.xlsx", "sentence", bomb, "The unpacked workbook has 128 MB; the limit is 24 MB"),
    "a million laughs": (
        "a.xlsx", "sentence",
        with_part(BOOK, "xl/workbook.xml", lambda part: LOL + b"]>" + part.replace(b'name="Sheet1"', b'name="&m;"')),
        BROKEN_BOOK,
    ),
    "an entity from outside": (
        "a.xlsx", "sentence",
        with_part(BOOK, "xl/sharedStrings.xml", lambda part: OUTSIDE + b"]>" + part.replace(b"film 1 ", b"&a; ")),
        BROKEN_BOOK,
    ),
    "a long comment, which would be read a thousand times": (
        "a.xlsx", "sentence",
        lambda: with_part(BOOK, "xl/styles.xml", lambda part: b"<!--%b-->" % (b"<>" * 1_900_000) + part), TOO_LONG,
    ),
    "a long attribute, which would be too": (
        "a.xlsx", "sentence", lambda: of_sheet(f'<row a="{" " * 20_000_000}"/>', BOOK), TOO_LONG,
    ),
    "a long blank text in many cells": (
        "a.xlsx", "sentence",
        lambda: with_part(
            of_sheet(("<row>" + '<c t="s"><v>0</v></c>' * 90 + "</row>") * 2_000, BOOK),
            "xl/sharedStrings.xml",
            lambda _: strings_part(b'<si><t xml:space="preserve">%b</t></si>' % (b" " * 190_000)),
        ),
        TOO_LONG,
    ),
    "XML in UTF-16": (
        "a.xlsx", "sentence",
        with_part(BOOK, "xl/workbook.xml", lambda part: part.decode().encode("utf-16")), "The workbook is not encoded",
    ),
    "a workbook cut off": ("a.xlsx", "sentence", BOOK[:-300], BROKEN_BOOK),
    "a workbook without its sheet": (
        "a.xlsx", "sentence",
        packed({name: part for name, part in parts_of(BOOK).items() if "sheet1" not in name}),
        "The workbook has no sheet with cells.",
    ),
    "a document": ("a.docx", "sentence", packed({"word/document.xml": b"<w/>"}), "A file whose name ends in '.docx'"),
    "a document called csv": ("a.csv", "list", packed({"word/document.xml": b"<w/>"}), "The file is a zip archive"),
    "a workbook of 1997, or with a password": (
        "a.xlsx", "sentence", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "The file is an old Excel workbook",
    ),
    "a workbook called xls": ("a.xls", "sentence", b"\xd0\xcf\x11\xe0", "A file whose name ends in '.xls'"),
    # names without an ending, and wrong ones
    "no ending, semicolons": ("films", "sentence", SEMICOLONS.encode("cp1252"), EUROPE),
    "no ending, commas": ("films", "sentence", films(CAFE), f"{CSV_COMMA}UTF-8."),
    "no ending, tabs": ("films", "sentence", films(between="\t"), f"{TABS}UTF-8."),
    "no ending, JSON": ("films", "sentence", json.dumps(RECORDS, indent=1), LIST),
    "no ending, JSON lines": ("films", "frozen", lines(), "Read as JSON lines, UTF-8."),
    "no ending, a workbook": ("films", "sentence", BOOK, EXCEL),
    "no ending, sentences": ("films", "list", LINES, SENTENCES),
    "no ending, CoNLL": ("names", "entities", CONLL, "Read as CoNLL, one token and its tag per line, UTF-8."),
    "no ending, a table of names": (
        "names", "entities", table(TAGGED, ("tokens", "tags"), "\t"), f"{TABS}UTF-8.",
    ),
    "no ending, SQuAD": ("squad", "question", squad("bees", "bees"), "Read as SQuAD’s JSON, UTF-8."),
    "no ending, rated pairs": ("pairs", "rated", table(RATED, RATED_NAMES, ";"), f"{CSV_SEMICOLON}UTF-8."),
    "a date for an ending": ("Notes 2.11.2024", "sentence", films(CAFE), f"{CSV_COMMA}UTF-8."),
    "no ending, a picture": ("films", "sentence", b"\x89PNG\r\n\x1a\n" + bytes(99), "The file is a picture"),
    "text called xlsx": ("a.xlsx", "sentence", SEMICOLONS, f"{CSV_SEMICOLON}UTF-8."),
    "Parquet": ("a.parquet", "sentence", b"PAR1" + bytes(99), "The Parquet file is broken; save it again, or as CSV."),
    "equal sentences with other labels": (
        "a.csv", "sentence", table([("the same film", c) for _, c in FILMS]),
        "A repeated sentence counts once, with its first label",
    ),
}  # fmt: skip

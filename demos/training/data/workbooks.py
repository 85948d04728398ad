"""From an Excel workbook (.xlsx) to a sheet's cells: values only, never formulas or macros, within bounds."""

import datetime
import io
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from demos.errors import UserError

ZIP = b"PK\x03\x04"  # how every zip archive begins
MAX_UNPACKED = 24 * 2**20  # bytes of all parts together
MAX_CELLS = 200_000
MAX_STRETCH = 200_000  # bytes without a tag: a cell of Excel's has 32,767 characters at most
MAX_OTHER = 50_000  # elements that are no cells: styles, names, pictures
CELL_TAGS = (b"row", b"c", b"v", b"f", b"is", b"t", b"si")
SAVE_AS_CSV = "save its sheet as CSV"
BROKEN = f"The Excel workbook is broken; save it again, or {SAVE_AS_CSV}."
TOO_LONG = f"The workbook has a cell or a part that is too long to read; {SAVE_AS_CSV}."
TOO_MANY = f"The workbook has more than {MAX_CELLS:,} cells, or too many styles; {SAVE_AS_CSV}."
_ENCODING = re.compile(rb"""(?:\xef\xbb\xbf)?\s*<(?:\?xml[^>]*?encoding=["']([\w.-]+)|(?!\?xml[^>]*encoding))""")
_STRETCH = re.compile(rb"[^<]+")
_SHEET = re.compile(rb"<(?:[\w.-]{1,20}:)?sheet\s")
_TAG = re.compile(rb"<(?:[\w.-]{1,20}:)?([A-Za-z]\w{0,40})")


class Sheet(NamedTuple):
    """One sheet: its name, its rows with their numbers (none that is empty), all as wide."""

    title: str
    rows: list[tuple[int, list[str]]]


class UnclearSheetError(UserError):
    """Several sheets of a workbook hold data, and none of them was chosen."""

    def __init__(self, sheets: Sequence[str]) -> None:
        listed = " and ".join(filter(None, [", ".join(map(quoted_title, sheets[:-1])), quoted_title(sheets[-1])]))
        super().__init__(f"The sheets {listed} hold data; choose one of them.")
        self.sheets = sheets


def quoted_title(title: str) -> str:
    """A sheet's name in a sentence."""
    return f"“{title if len(title) <= 40 else f'{title[:39]}…'}”"


def is_workbook(data: bytes) -> bool:
    """Whether these bytes are a zip archive with a workbook in it."""
    if not data.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(name.startswith("xl/workbook") for name in archive.namelist())
    except Exception:  # zipfile raises many kinds for a broken archive
        return False


def read_workbook(data: bytes, max_rows: int, max_columns: int, title: str = "") -> Sheet:
    """A sheet's cells as text, of a formula the value that was saved with it; without this sheet of the first.

    Hidden sheets count only where there are no others, and empty ones only where all are. Raises UserError, one
    sentence, for what is broken, and for what is beyond the bounds once it is unpacked.
    """
    with _opened(data) as book:
        sheets = _filled(book)
        if not sheets:
            raise UserError("The workbook has no sheet with cells.")
        return _cells(next((sheet for sheet in sheets if sheet.title == title), sheets[0]), max_rows, max_columns)


@lru_cache(maxsize=4)
def sheet_names(data: bytes) -> tuple[str, ...]:
    """The names of a workbook's sheets as `read_workbook` counts them, where it has several; else ().

    Raises UserError as `read_workbook` does.
    """
    if not is_workbook(data) or _is_single(data):
        return ()
    with _opened(data) as book:
        return tuple(str(sheet.title) for sheet in _filled(book))


def _is_single(data: bytes) -> bool:
    """Whether a workbook lists one sheet, which needs no other part of it to be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open("xl/workbook.xml") as part:
            listed = part.read(MAX_STRETCH)
            return not part.read(1) and len(_SHEET.findall(listed)) == 1
    except Exception:  # zipfile raises many kinds for a broken archive, and for another name of the part
        return False


@contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    """The workbook, as openpyxl reads it."""
    import openpyxl  # here: most readers bring no workbook

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that openpyxl leaves out
            book = openpyxl.load_workbook(checked_copy(data), read_only=True, data_only=True, keep_links=False)
            yield book
            book.close()
    except UserError:
        raise
    except Exception as error:  # zipfile, expat and openpyxl raise many kinds; each means the same to the reader
        raise UserError(BROKEN) from error


def _filled(book: Any) -> list[Any]:
    """The sheets that are shown, of several those with a cell that is not empty; all where there is none."""
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"] or list(book.worksheets)
    for sheet in sheets:
        sheet.reset_dimensions()  # the size that the file states may be wrong
    filled = [
        sheet
        for sheet in (sheets if len(sheets) > 1 else ())
        if any(cell not in (None, "") for cells in sheet.iter_rows(values_only=True) for cell in cells)
    ]
    return filled or sheets


def checked_copy(data: bytes) -> io.BytesIO:
    """The archive's XML parts alone, unpacked: no macro, no picture.

    Raises UserError where they hold more than the bounds, which is more than can be read in seconds, or are not UTF-8.
    """
    copy, tags = io.BytesIO(), Counter[bytes]()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(copy, "w") as unpacked:
        size = sum(part.file_size for part in archive.infolist())  # no more than these bytes is ever unpacked
        if size > MAX_UNPACKED:
            raise UserError(
                f"The unpacked workbook has {size / 2**20:,.0f} MB; the limit is {MAX_UNPACKED // 2**20} MB, "
                f"so {SAVE_AS_CSV}."
            )
        for part in archive.infolist():
            if not part.filename.endswith((".xml", ".rels")):
                continue
            text = archive.read(part)
            encoding = _ENCODING.match(text)
            if not encoding or (encoding[1] or b"utf-8").lower() not in (b"utf-8", b"us-ascii"):
                raise UserError(f"The workbook is not encoded in UTF-8 as Excel's files are; {SAVE_AS_CSV}.")
            if text.count(b"<") > 10 * MAX_CELLS:
                raise UserError(TOO_MANY)
            _check_stretches(text)
            tags.update(_TAG.findall(text))
            unpacked.writestr(part.filename, text)
    others = sum(count for tag, count in tags.items() if tag not in CELL_TAGS)
    if any(tags[tag] > MAX_CELLS for tag in CELL_TAGS) or others > MAX_OTHER:
        raise UserError(TOO_MANY)
    return copy


def _check_stretches(text: bytes) -> None:
    """Raises UserError for parts that the parser would read again with each piece of the file that it is given."""
    if b"<!DOCTYPE" in text:  # Excel writes none
        raise UserError(BROKEN)
    ends = ((rest, end) for begin, end in ((b"<!--", b"-->"), (b"<?", b"?>")) for rest in text.split(begin)[1:])
    if any(not 0 <= rest.find(end) <= MAX_STRETCH for rest, end in ends):
        raise UserError(TOO_LONG)
    if any(stretch.end() - stretch.start() > MAX_STRETCH for stretch in _STRETCH.finditer(text)):
        raise UserError(TOO_LONG)


def _cells(sheet: Any, max_rows: int, max_columns: int) -> Sheet:
    rows, characters = [], 0
    sheet_rows = sheet.iter_rows(max_row=max_rows + 2, max_col=max_columns + 1, values_only=True)
    for number, cells in enumerate(sheet_rows, start=1):
        texts = [_plain(cell) for cell in cells]
        characters += sum(map(len, texts))
        if characters > MAX_UNPACKED:  # where many cells share one text
            raise UserError(TOO_LONG)
        if any(map(str.strip, texts)):
            rows.append((number, texts))
    width = max((at for _, cells in rows for at, cell in enumerate(cells, start=1) if cell), default=0)
    if width > max_columns:
        raise UserError(f"The sheet has more than {max_columns} columns.")
    if rows and rows[-1][0] > max_rows + 1:
        raise UserError(f"The file has more than {max_rows:,} rows.")
    return Sheet(str(sheet.title), [(number, cells[:width]) for number, cells in rows])


def _plain(cell: Any) -> str:
    """A cell as a CSV file would have it."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return str(cell)

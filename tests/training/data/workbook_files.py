"""Excel workbooks as people and attackers make them."""

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import openpyxl

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"


def workbook(rows: Sequence[Sequence[Any]], *others: Sequence[Sequence[Any]], first: str = "Sheet1") -> bytes:
    """A workbook with a sheet of these rows, and further sheets."""
    book = openpyxl.Workbook()
    book.active.title = first  # type: ignore[union-attr]
    for sheet in (book.active, *(book.create_sheet() for _ in others)):
        for row in (rows, *others)[book.index(sheet)]:
            sheet.append(list(row))
    whole = io.BytesIO()
    book.save(whole)
    return as_excel(whole.getvalue())


def as_excel(data: bytes) -> bytes:
    """The workbook with its texts in a table of their own, as Excel has them, and not in the cells."""
    parts, strings = parts_of(data), []

    def shared(text: re.Match[bytes]) -> bytes:
        strings.append(text[1])
        return b't="s"><v>%d</v>' % (len(strings) - 1)

    for name in [name for name in parts if name.startswith("xl/worksheets/")]:
        parts[name] = re.sub(rb't="inlineStr"><is>(.*?)</is>', shared, parts[name])
    parts["xl/sharedStrings.xml"] = strings_part(b"".join(b"<si>%s</si>" % text for text in strings))
    override = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{TYPE}" /></Types>'.encode()
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", override)
    return packed(parts)


def strings_part(strings: bytes) -> bytes:
    """The part with the texts of all cells."""
    return b'<sst xmlns="%s">%s</sst>' % (MAIN.encode(), strings)


def parts_of(data: bytes) -> dict[str, bytes]:
    """The workbook's parts, unpacked."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes]) -> bytes:
    """A workbook of these parts."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return whole.getvalue()


def with_part(data: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """The workbook with one part changed, or made."""
    parts = parts_of(data)
    return packed({**parts, name: change(parts.get(name, b""))})


def of_sheet(cells: str, data: bytes) -> bytes:
    """The workbook with these rows, as XML, in the place of its first sheet's."""
    xml = f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    return with_part(data, "xl/worksheets/sheet1.xml", lambda _: xml.encode())

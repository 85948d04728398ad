"""From a file's bytes to its text: UTF-8, UTF-16 with its mark, or the Windows-1252 or -1250 that Excel writes."""

import os
from pathlib import Path

from demos.errors import UserError
from demos.training.data.upload_limit import MAX_UPLOAD
from demos.training.data.windows_encoding import windows_encoding

NOT_TEXT = {
    b"\x1f\x8b": "compressed",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"PK\x03\x04": "a zip archive, not an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook, or one with a password",
}
SAVE_AS = "save it as .xlsx, CSV or JSON"


def file_bytes(path: Path | str) -> bytes:
    """The bytes of the file; one that is too large is not read. Raises UserError where it can't be read."""
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(MAX_UPLOAD + 1) if size <= MAX_UPLOAD else b""
    except (OSError, TypeError, ValueError) as error:
        raise UserError("The file could not be read; choose it again.") from error
    check_size(max(size, len(data)))
    return data


def check_size(size: int) -> None:
    """Raises UserError for a file of more bytes than MAX_UPLOAD."""
    if size > MAX_UPLOAD:
        raise UserError(f"The file has {size / 2**20:.1f} MB; the limit is {MAX_UPLOAD // 2**20} MB.")


def decode_text(data: bytes) -> tuple[str, str]:
    """(the text, the name of its encoding): UTF-8 with or without a byte order mark, UTF-16 with one, one of Windows'.

    Marks further in, of files put together, go. Raises UserError for more than MAX_UPLOAD, and for what is no text.
    """
    check_size(len(data))
    for magic, kind in NOT_TEXT.items():
        if data.startswith(magic):
            raise UserError(f"The file is {kind}; {SAVE_AS}.")
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    zeros = sorted(half.count(0) for half in (data[:1_000:2], data[1:1_000:2]))
    if not marked and zeros[0] == 0 and zeros[1] > len(data[:1_000]) / 4:  # most of every second byte
        raise UserError("The file seems to be UTF-16 without its byte order mark; save it as UTF-8.")
    encoding = "utf-16" if marked else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if not marked and (windows := windows_encoding(data)):
            return data.decode(windows), windows
        row = len(lines_of(data[: error.start].decode(encoding, "replace")))
        raise UserError(f"Row {row:,} is not {encoding.upper()} text; save the file as UTF-8.") from error
    if "\0" in text:
        row = len(lines_of(text[: text.index("\0")]))
        raise UserError(f"Row {row:,} contains a NUL character, so this is not a text file.")
    return text.replace("\ufeff", ""), encoding


def lines_of(text: str) -> list[str]:
    """The lines, whichever way they end."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

"""The form in which a file was read, in one sentence for the page."""

from dataclasses import dataclass

from demos.training.data.windows_encoding import CENTRAL, UNSURE, WESTERN

# Python's names and the usual ones.
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    WESTERN: "Windows-1252",
    CENTRAL: "Windows-1250",
    UNSURE: "Windows-1252",
}
GUESSED = " This encoding is a guess; if letters are wrong, save the file as UTF-8."
SIGNS = {",": "commas", "\t": "tabs", ";": ";", "|": "|"}


@dataclass(frozen=True)
class ReadAs:
    """The form of a file, and how its bytes became text ("" where the form says it, as a workbook's does)."""

    form: str
    encoding: str = ""  # Python's name
    delimiter: str = ""  # of a table as text
    quoted: bool = True  # whether quotes around a field of it are not the field's own
    skipped: int = 0  # lines before it
    sheet: str = ""  # of a workbook
    left_out: tuple[tuple[str, int], ...] = ()  # reasons, and the rows that are no longer there
    remarks: tuple[str, ...] = ()  # the changes to its contents, a sentence each

    @property
    def note(self) -> str:
        """The sentence for the page."""
        encoding = ENCODINGS.get(self.encoding, "")
        return f"Read as {self.form}{', ' if encoding else ''}{encoding}.{GUESSED if self.encoding == UNSURE else ''}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Every sentence for the page."""
        rows = (f"{count:,} row{'' if count == 1 else 's'} left out: {why}." for why, count in self.left_out)
        return (self.note, *rows, *self.remarks)


def delimited(delimiter: str, width: int) -> str:
    """The form of a table with this sign between its columns."""
    if width < 2:
        return "a table of one column"
    form = "a table" if delimiter == "\t" else "CSV"
    return f"{form} with {SIGNS.get(delimiter, delimiter)} between the columns"

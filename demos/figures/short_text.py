"""A text cut to fit: one line, its end replaced by a mark that says so."""


def short(text: object, length: int) -> str:
    """`text` on one line of at most `length` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= length else line[: length - 1] + "…"

"""Text files that a lecturer writes, Markdown with front matter: read within bounds; each error names its line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt

from demos.errors import UserError

MOST_LINES = 50  # of front matter
MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")


def fault_at(file: str, line: int, sentence: str) -> UserError:
    """The sentence for the reader; `line` counts from 0."""
    return UserError(f"{file}, line {line + 1}: {sentence}.")


def read_bounded(path: Path, file: str, most_bytes: int, kind: str) -> str:
    """The text of a file of this kind ("a tour"); errors name it as `file`. Raises UserError where it can't be read."""
    try:
        if path.stat().st_size > most_bytes:
            raise UserError(f"{file}: {kind} has at most {most_bytes // 1000} kB.")
        return decoded(file, path.read_bytes())
    except OSError as error:
        raise UserError(f"{file}: the file can't be read ({error.strerror}).") from error


def decoded(file: str, body: bytes) -> str:
    """The text that a file holds. Raises UserError where it is not UTF-8."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: the file is not UTF-8 text.") from error


def front_matter(file: str, lines: Sequence[str], begins: str) -> tuple[dict[Any, Any], int]:
    """(what it says, the number of the first line after it). Raises UserError; `begins` is said where there is none."""
    ends = [number for number, line in enumerate(lines[:MOST_LINES]) if line.rstrip() == "---"]
    if not ends or ends[0] != 0 or len(ends) < 2:
        raise fault_at(file, 0, begins)
    try:
        front = yaml.safe_load("\n".join(lines[1 : ends[1]]))
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a day that there is none, a thousand brackets
        mark = getattr(error, "problem_mark", None)
        raise fault_at(file, mark.line + 1 if mark else 1, "this is not “name: value”") from error
    if not isinstance(front, dict):
        raise fault_at(file, 1, "this is not “name: value”")
    return front, ends[1] + 1

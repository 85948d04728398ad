"""The programs that the page hands out, run."""

from __future__ import annotations

import contextlib
import io


def printed(program: str) -> list[str]:
    """The lines that a program prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(program, "lesson", "exec"), {})
    return output.getvalue().splitlines()

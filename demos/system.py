"""The differences between operating systems: missing features, printable characters, and allowed file names."""

import io
import logging
import re
import sys
from functools import cache

log = logging.getLogger(__name__)
_DEVICE = re.compile(r"(con|prn|aux|nul|(com|lpt)\d)(\..*)?", re.IGNORECASE)


@cache
def lacks(sentence: str) -> None:
    """Say in one line of the log, once, what the app does without here: "Here no limit of open files can be read"."""
    log.warning(sentence)


def print_any_character() -> None:
    """Have `print` write `\\u2192` where standard output has no such character, and not end the program.

    On Windows what goes to a file or a pipe is in the country's own code page, of 256 characters.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_device(name: str) -> bool:
    """Whether Windows takes a file of this name for a device, whatever its folder: "aux.json", "CON"."""
    return _DEVICE.fullmatch(name) is not None

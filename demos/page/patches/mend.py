"""Gradio's own scripts, changed on their way to the browser; a script with different text is sent unmodified."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gradio

SCRIPTS = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Mend:
    """A passage of one of Gradio's scripts, and its replacement."""

    script: str  # the file's name before the part that changes with its content
    what_for: str  # ends the sentence "The page does without this: "
    read_in: str  # the version in which the passage was read
    old: re.Pattern[bytes]  # matches once
    new: bytes


def mended_scripts(mends: Sequence[Mend], folder: Path = SCRIPTS) -> dict[str, bytes]:
    """The scripts that some mend fits, by address, as sent; one line in the log for each that fits none."""
    texts = {
        path: path.read_bytes() for name in {mend.script for mend in mends} for path in folder.glob(f"{name}-*.js")
    }
    mended: dict[str, bytes] = {}
    for mend in mends:
        counts = {path: len(mend.old.findall(texts[path])) for path in folder.glob(f"{mend.script}-*.js")}
        if sum(counts.values()) != 1:
            log.warning(f"{mend.script}.js is not as in {mend.read_in}. The page does without this: {mend.what_for}.")
            continue
        path = max(counts, key=counts.__getitem__)
        texts[path] = mended[f"/assets/{path.name}"] = mend.old.sub(mend.new, texts[path])
    return mended

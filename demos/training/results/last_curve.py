"""A finished run's curve, kept as a file beside its model, so that a page draws it again after a restart."""

import json
from pathlib import Path

FILE = "curve.json"
MAX_BYTES = 512 * 1024  # a longer one is not kept; of 600 points it has some 40,000


def keep_curve(folder: Path, kind: str, curve: str) -> None:
    """Note in the run's folder which task it was, and the message that draws its curve."""
    text = json.dumps({"kind": kind, "curve": curve})
    if len(text) <= MAX_BYTES:
        (folder / FILE).write_text(text, encoding="utf-8")


def read_curve(folder: Path) -> dict[str, str]:
    """The stored {"kind", "curve"}; {} where there is none."""
    try:
        document = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return {"kind": str(document["kind"]), "curve": str(document["curve"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}

"""Where rated pairs come from: the menu's three choices, and the pairs that each of them means."""

from __future__ import annotations

import os
from pathlib import Path

from demos.errors import UserError
from demos.training.data.rated_pairs import Rated, hub_pairs, our_pairs, read_pairs
from demos.training.data.tables import MAX_BYTES

OWN, UPLOAD, HUB = "ours", "file", "hub"
FILES = [".csv", ".tsv", ".jsonl", ".txt"]
AWAITED = "Choose a file of sentence pairs: sentence1, sentence2 and score, as CSV, TSV or JSONL."


def read_data(source: str, file: str | None) -> Rated:
    """The pairs that the data menu means. Raises UserError where there are none to be had."""
    if source == HUB:
        return hub_pairs()
    if source != UPLOAD:
        return our_pairs()
    if not file:
        raise UserError(AWAITED)
    if os.path.getsize(file) > MAX_BYTES:
        raise UserError(f"The file has more than {MAX_BYTES // 2**20} MB.")
    return read_pairs(Path(file).read_bytes(), Path(file).name)

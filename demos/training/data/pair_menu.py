"""Where rated pairs come from: the menu's three choices, and the pairs that each of them means."""

from __future__ import annotations

from pathlib import Path

from demos.errors import UserError
from demos.training.data.files import file_bytes
from demos.training.data.rated_pairs import Rated, hub_pairs, our_pairs, read_pairs

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
    return read_pairs(file_bytes(file), Path(file).name)

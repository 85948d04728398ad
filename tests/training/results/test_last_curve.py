"""A run's curve beside its model: written, read again, and never longer than its bound."""

from pathlib import Path

import pytest

from demos.training.results.last_curve import FILE, MAX_BYTES, keep_curve, read_curve


def test_a_curve_is_read_as_it_was_kept(tmp_path: Path) -> None:
    assert read_curve(tmp_path) == {}
    keep_curve(tmp_path, "pair", '{"done": true, "status": "ρ\\u003c"}')
    assert read_curve(tmp_path) == {"kind": "pair", "curve": '{"done": true, "status": "ρ\\u003c"}'}


def test_one_that_is_too_long_is_not_kept(tmp_path: Path) -> None:
    keep_curve(tmp_path, "pair", "x" * MAX_BYTES)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"kind": "pair"}', "\udcff"])
def test_a_broken_one_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
    assert read_curve(tmp_path) == {}

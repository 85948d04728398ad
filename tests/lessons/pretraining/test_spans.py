"""Pack spans on the page: bars to scale, masks that repeat as told, the program prints the same spans."""

import contextlib
import io
import re

import numpy as np
import pytest

from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.bert.model.models import ModelStore
from demos.bert.pretraining.spans import Instance, Piece, other_documents
from demos.errors import UserError
from demos.files import ASSETS
from demos.lessons.pretraining.spans.figure import Drawn, masked_at, packed_html, spans_code, strips_html
from demos.lessons.pretraining.spans.part import COPIES, LENGTHS, OPENING, PASSES, packed

TOKENIZER = ModelStore().tokenizer(BUNDLED)


@pytest.mark.parametrize("length", LENGTHS)
def test_bars_are_to_scale_and_hold_every_sentence(length: int) -> None:
    found = packed(TOKENIZER, OPENING, length, 3)
    shown = packed_html(Drawn(found.documents, found.instances, length))
    bars = re.findall(r'<div class="spans-bar">(.*?)</div>', shown, re.DOTALL)
    assert 1 <= len(bars) <= len(found.instances)
    for bar, one in zip(bars, found.instances, strict=False):
        widths = [float(width) for width in re.findall(r"width:([\d.]+)%", bar)]
        assert sum(widths) == pytest.approx(100 * one.tokens / length, abs=0.05)
        assert one.tokens <= length
    own = {p.sentence for one in found.instances for p in (*one.first, *one.second) if p.document == 0}
    assert own == set(range(len(found.documents[0])))


def test_the_program_prints_the_spans_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ASSETS.parent)
    found = packed(TOKENIZER, OPENING, 64, 5)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(spans_code(CATALOGUE[BUNDLED], found.documents[0], 64, 5), "spans", "exec"), {})
    lines = printed.getvalue().splitlines()
    assert [line.rsplit(" ", 1)[1] for line in lines] == [
        "IsNext" if one.is_next else "NotNext" for one in found.instances
    ]
    for line, one in zip(lines, found.instances, strict=True):
        tokens = [
            token
            for span in (one.first, one.second)
            for piece in span
            for token in _kept(found.documents[piece.document][piece.sentence], piece)
        ]
        assert [token for token in line.split()[:-1] if token not in ("[CLS]", "[SEP]")] == tokens


def _kept(sentence: str, piece: Piece) -> list[str]:
    tokens: list[str] = TOKENIZER.tokenize(sentence)
    return tokens[piece.front : len(tokens) - piece.back]


def test_static_masks_repeat_and_dynamic_ones_do_not() -> None:
    one = Instance((Piece(0, 0, 20),), (Piece(0, 1, 17),), True, 61)
    static, dynamic = (masked_at(40, one, PASSES, copies, 3) for copies in (COPIES, None))
    assert static[COPIES:] == static[: PASSES - COPIES]
    assert len(set(static)) == COPIES
    assert len(set(dynamic)) == PASSES
    assert static[:COPIES] == dynamic[:COPIES]
    for chosen in dynamic:
        assert len(chosen) == 6  # 15 % of 40
        assert not chosen & {0, 21, 39}  # [CLS], [SEP], [SEP]
    told = strips_html(static, 40, COPIES)
    assert told.count('<i class="on">') == 6 * PASSES
    assert re.findall(r"as pass (\d+)", told) == ["1", "2"]
    assert "as pass" not in strips_html(dynamic, 40, None)


def test_odd_texts() -> None:
    hostile = packed(TOKENIZER, "<img src=x onerror=alert(1)>. ${alert(1)}.", 32, 0)
    assert "<img" not in packed_html(Drawn(hostile.documents, hostile.instances, 32))
    assert all(packed(TOKENIZER, "One.", 32, seed).instances[0].is_next is False for seed in range(5))
    for text in ("", " \n "):
        with pytest.raises(UserError, match="no text"):
            packed(TOKENIZER, text, 64, 0)
    with pytest.raises(UserError, match="the limit is 20,000"):
        packed(TOKENIZER, "word. " * 500, 64, 0)
    assert len(other_documents()) == 60
    assert np.mean([len(document) for document in other_documents()]) > 3

"""A padded batch as a table: each input a row, its attention mask and segments beneath, padding hatched (HTML)."""

from __future__ import annotations

import html

from demos.bert.model.padding import Batch
from demos.figures.token_chips import hue, token_label


def batch_figure(batch: Batch) -> str:
    """The batch, cell by cell: token, id, attention mask (1 text, 0 padding) and segment."""
    height, width = batch.shape
    if not height:
        return ""
    cells = height * width
    rows = "".join(_rows(batch, row) for row in range(height))
    head = "".join(f'<th scope="col">{position}</th>' for position in range(width))
    padding = f"{batch.padding:,} of {cells:,} cells are padding ({batch.padding / cells:.0%})"
    return (
        f'<p class="found">A batch of <b>{height} × {width}</b>: {padding}. Where the mask is 0, no token looks.</p>'
        '<div class="scroll" tabindex="0" role="region" aria-label="The padded batch"><table class="batch">'
        f"<caption>Tokens, ids, attention mask, segments</caption><thead><tr><td></td>{head}</tr></thead>"
        f"{rows}</table></div>"
    )


def _rows(batch: Batch, row: int) -> str:
    mask = batch.attention_mask[row]
    tokens = "".join(
        f'<td class="{"pad" if not mask[i] else hue(batch.word_index[row][i])}">{token_label(token)}</td>'
        for i, token in enumerate(batch.tokens[row])
    )
    return (
        f'<tbody><tr class="token-row"><th scope="row">sentence {row + 1}</th>{tokens}</tr>'
        f"{_numbers('ids', batch.input_ids[row], mask)}{_numbers('attention mask', mask, mask)}"
        f"{_numbers('segments', batch.token_type_ids[row], mask)}</tbody>"
    )


def _numbers(name: str, values: tuple[int, ...], mask: tuple[int, ...]) -> str:
    cells = "".join(
        f'<td class="pad">{value}</td>' if not on else f"<td>{value}</td>"
        for value, on in zip(values, mask, strict=True)
    )
    return f'<tr><th scope="row">{html.escape(name)}</th>{cells}</tr>'

"""A token's way to the first layer in words and tables (HTML, escaped), each number the picture's own."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from demos.bert.encoder.input import InputLedger, Selection
from demos.bert.encoder.input_changed import Changes
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.figures.numbers import scientific
from demos.figures.strips import strips_table
from demos.figures.tables import column_heads, scrolling_table
from demos.lessons.encoder.input.figure import CHANGE_NAMES, norm_strips, selection_strips, sum_strips

SHOWN_WORDS = 60  # tokens of the shuffled sentence


def selection_told(selection: Selection, encoding: Encoding, token: int) -> str:
    """Step 1 in words: the shapes, both ways, and how far they lie apart."""
    size, width = selection.vocabulary, len(selection.row)
    name = _quoted(encoding, token)
    return (
        f"<h3>1. The word's row</h3><p>{name} is number <b>{selection.input_id:,}</b> of {size:,} word pieces. As a "
        f"one-hot vector it is [1 × {size:,}]: all zeros, and a single 1. Times the matrix [{size:,} × {width:,}] that "
        f"is one row, [1 × {width:,}]. The product takes {size * width:,} multiplications, so programs look the "
        f"row up; largest difference between the two ways: <b>{scientific(selection.difference)}</b>.</p>"
    )


def sum_told(ledger: InputLedger, token: int, spec: ModelSpec) -> str:
    """Step 2 in words: what is added, and which part is the longest."""
    parts = {"word": ledger.word[token], "position": ledger.position[token]}
    if ledger.segment is not None:
        parts["segment"] = ledger.segment[token]
    norms = {name: float(np.linalg.norm(vector)) for name, vector in parts.items()}
    longest = max(norms, key=lambda name: norms[name])
    lacks = "" if ledger.segment is not None else f" {html.escape(spec.title)} has no segment embeddings."
    said = ", ".join(f"{name} {norm:.2f}" for name, norm in norms.items())
    return (
        "<h3>2. Segment and position are added</h3>"
        f"<p>Number by number, no concatenation: the width stays {ledger.total.shape[1]:,}.{lacks} The norms (lengths "
        f"‖·‖) are {said}: the {longest} part weighs most here. The sum's is "
        f"{np.linalg.norm(ledger.total[token]):.2f}.</p>"
    )


def norm_told(ledger: InputLedger, embedding_output: np.ndarray, token: int) -> str:
    """Step 3 in words: mean and deviation of this token, and the check against the model."""
    norm = ledger.norm
    return (
        "<h3>3. LayerNorm</h3>"
        f"<p>The sum's {norm.normalised.shape[1]:,} numbers have mean <b>{norm.mean[token]:.4f}</b> and deviation "
        f"<b>{norm.deviation[token]:.4f}</b>; off with the one, divide by the other, then a learnt gain and offset for "
        "each dimension. This is what layer 0 reads. Largest difference from the model's own embedding output, over "
        f"all {len(norm.mean)} tokens: <b>{scientific(ledger.difference(embedding_output))}</b>.</p>"
    )


def changes_told(changes: Changes, encoding: Encoding, token: int, spec: ModelSpec, has_segments: bool) -> str:
    """Step 4 in words: what the picture shows for the chosen token, the shuffled words, and the fact about bags."""
    by_name = {change.name: change for change in changes.changes}
    said = ", ".join(
        f"{CHANGE_NAMES[name]} {by_name[name].cosine[token]:.2f}"
        for name in ("positions", "segments", "order")
        if name in by_name
    )
    order = [encoding.tokens[number] for number in changes.order]
    words = " ".join(order[:SHOWN_WORDS]) + (" …" if len(order) > SHOWN_WORDS else "")
    same = "" if [*encoding.tokens] != order else " (No other order differs: the words are the same or too few.)"
    lacks = "" if has_segments else f"<p>{html.escape(spec.title)} has no segments to take away.</p>"
    return (
        "<p>The cosine of each token's last state before and after: 1 is unmoved. "
        f"For {_quoted(encoding, token)}: {said}.</p>{lacks}"
        f'<p>Shuffled: <q class="encoder-shuffled">{html.escape(words)}</q>{same}</p>'
        "<p>¹ Compared with the unshuffled input that has no positions either. Without positions every word gets the "
        "very same vector in any order, wherever it stands: the sentence is a bag of words (largest difference of "
        f"any number: <b>{scientific(by_name['bag'].largest)}</b>). Order reaches BERT through the position embedding "
        "alone.</p>"
    )


def too_long_told(n: int, limit: int) -> str:
    """Instead of step 4, where three more passes of this input would hold up everyone."""
    return f"<p>Changes are shown for inputs of at most {limit} tokens; this one has {n}.</p>"


def numbers_html(selection: Selection, pieces: Sequence[str], ledger: InputLedger, encoding: Encoding, at: int) -> str:
    """The fold "The numbers": the strips' first numbers, then each token's norms."""
    steps = [*selection_strips(selection, pieces), *sum_strips(ledger, encoding, at), *norm_strips(ledger, at)]
    return strips_table(steps, "The strips' first numbers; mean, deviation and norm over all of them") + _norms(
        ledger, encoding
    )


def changes_table(changes: Changes, encoding: Encoding) -> str:
    """The picture's cosines, a row a token and one for the mean of all."""
    names = [CHANGE_NAMES[change.name] for change in changes.changes]
    rows = [(token, [change.cosine[i] for change in changes.changes]) for i, token in enumerate(encoding.tokens)]
    rows.append(("mean of all", [change.sentence for change in changes.changes]))
    return _table("Cosine of the final state before and after each change", names, rows, 4)


def _norms(ledger: InputLedger, encoding: Encoding) -> str:
    """The norm of each part, a row a token."""
    parts = {"word": ledger.word, "segment": ledger.segment, "position": ledger.position}
    parts |= {"sum": ledger.total, "after LayerNorm": ledger.result}
    kept = {name: np.linalg.norm(part, axis=-1) for name, part in parts.items() if part is not None}
    rows = [(token, [norms[i] for norms in kept.values()]) for i, token in enumerate(encoding.tokens)]
    return _table("Norms of each token's vectors", list(kept), rows, 3)


def _table(caption: str, names: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]], digits: int) -> str:
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(f"<td>{v:.{digits}f}</td>" for v in values)}</tr>'
        for name, values in rows
    )
    return scrolling_table(caption, f"<td></td>{column_heads(names)}", body)


def _quoted(encoding: Encoding, index: int) -> str:
    return f"<q>{html.escape(encoding.tokens[index])}</q> (token {index})"

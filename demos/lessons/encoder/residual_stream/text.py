"""A token's path through all layers in words and numbers (HTML, escaped)."""

from __future__ import annotations

import html

from demos.bert.encoder.residual_stream import Paths
from demos.bert.model.encoding import Encoding
from demos.figures.tables import column_heads, scrolling_table
from demos.lessons.encoder.residual_stream.figure import SHOWN, token_cosines


def path_told(paths: Paths, encoding: Encoding, token: int, layer: int) -> str:
    """What the pictures show of the chosen token, in five sentences; one is on the mean of all tokens."""
    name = f"<q>{html.escape(encoding.tokens[token])}</q> (token {token})"
    steps = len(paths.norms)
    change = paths.change[:, token]
    most = int(change.argmax())
    start, mean = paths.to_start[:, token], paths.to_mean[:, token]
    shares = ", ".join(f"{share:.0%}" for share in paths.change.mean(axis=1))
    cut = (
        f" Only {SHOWN} of {len(encoding)} paths are drawn; the axes are fitted on all."
        if len(encoding) > SHOWN
        else ""
    )
    return (
        f"<p>{name}: {steps - 1} layers take its cosine with its own start from 1 to <b>{start[-1]:.2f}</b>, and with "
        f"the mean of all tokens from {mean[0]:.2f} to <b>{mean[-1]:.2f}</b>. Layer {most} changes it most, by "
        f"{change[most]:.0%} of its length; layer {layer} by {change[layer]:.0%}. On average over all "
        f"tokens, the layers change a vector by {shares} of its length (layer 0 first).</p>"
        f"<p>The plane holds {paths.explained.sum():.0%} of the variance of all {steps} × {len(encoding)} states, so "
        f"what looks near may be far in the other directions.{cut}</p>"
    )


def path_table(paths: Paths, encoding: Encoding, token: int) -> str:
    """The chosen token's numbers, a row a state."""
    cosines = token_cosines(paths, encoding, token)
    titles = ("norm", *(f"cosine to {name}" for name in cosines), "change by this layer", "axis 1", "axis 2")
    body = ""
    for step, norm in enumerate(paths.norms[:, token]):
        changed = f"{paths.change[step - 1, token]:.4f}" if step else "–"
        values = [f"{norm:.4f}", *(f"{values[step]:.4f}" for _, _, values in cosines.values()), changed]
        values += [f"{value:.4f}" for value in paths.points[step, token]]
        where = f"after layer {step - 1}" if step else "embedding output"
        body += f'<tr><th scope="row">{where}</th>{"".join(f"<td>{value}</td>" for value in values)}</tr>'
    told = html.escape(f"The path of {encoding.tokens[token]} (token {token})")
    return scrolling_table(told, f"<td></td>{column_heads(map(html.escape, titles))}", body)

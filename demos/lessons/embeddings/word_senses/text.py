"""A word's uses in words, numbers and a program (HTML, escaped; Python that runs)."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from demos.bert.embeddings.control_word import Control
from demos.bert.embeddings.word_occurrences import Contrast, Use
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS
from demos.figures.cosines import rounded
from demos.figures.program import model_lines
from demos.figures.tables import column_heads, scrolling_table
from demos.lessons.embeddings.word_senses.figure import around, use_name

SHOWN_PAIRS = 120
WHY = (
    '<p class="aside">word2vec and GloVe have one vector a word, the same in every sentence. ELMo (2018) gave each use '
    "a vector of its own, from networks that read in one direction each; in BERT every layer reads both sides at once. "
    "Layer 0 differs a little already: it is the word's row plus its position's and its segment's, normalised. How "
    "high the curves lie tells little, the gap between them does.</p>"
)


def uses_told(
    word: str,
    cosines: np.ndarray,
    static: np.ndarray,
    layer: int,
    averages: Contrast | None,
    uses: Sequence[Use],
    senses: Sequence[str],
    control: Control | None = None,
    chosen: bool = False,
) -> str:
    """What the pictures say at this layer, and which sense each use from the sentence bar is nearest to.

    `control` is another word of the same sentences; `chosen` says that the sentences were chosen by their result.
    """
    rows, columns = np.triu_indices(len(uses), k=1)
    flat = static[rows, columns]
    everywhere = (
        f"{flat.mean():.2f}" if np.allclose(flat, flat[0], atol=5e-3) else f"{flat.min():.2f} to {flat.max():.2f}"
    )
    named = html.escape(word, quote=False)
    begin = f"The static table has one row for “{named}”" if flat.min() > 0.9999 else f"In the static table “{named}”"
    if averages is not None:
        same, different = averages.same[layer], averages.different[layer]
        gaps = averages.same - averages.different
        now = (
            f"At <b>layer {layer}</b> two uses of one sense have a cosine of <b>{rounded(same)}</b> on average "
            f"({averages.same_pairs} pairs), two of different senses <b>{rounded(different)}</b> "
            f"({averages.different_pairs} pairs). "
            + (
                f"The curves are furthest apart at layer {int(gaps.argmax())}, by {rounded(gaps.max())}."
                if gaps.max() > 0
                else "At no layer are uses of one sense more alike."
            )
        )
    else:
        pairs = cosines[layer, rows, columns]
        most, least = int(pairs.argmax()), int(pairs.argmin())
        now = f"At <b>layer {layer}</b> " + (
            f"uses {_pair(rows[most], columns[most], uses)} are the most alike, <b>{rounded(pairs[most])}</b>, and "
            f"{_pair(rows[least], columns[least], uses)} the least, <b>{rounded(pairs[least])}</b>."
            if len(pairs) > 1
            else f"the two uses have a cosine of <b>{rounded(pairs[0])}</b>."
        )
    flatly = f"{begin}: cosine <b>{everywhere}</b>, whatever the sentence says."
    beside = "" if averages is None else _control(word, layer, control, chosen)
    return f"<p>{now} {flatly}</p>{beside}{_guesses(cosines[layer], uses, senses)}{WHY}"


def _control(word: str, layer: int, control: Control | None, chosen: bool) -> str:
    """How far apart the curves of another word of the same sentences are at this layer."""
    own_word = html.escape(word, quote=False)
    said = f"The sentences with “{own_word}” were chosen by their result, so look at other words too." if chosen else ""
    if control is None:
        return f"<p>No other word stands in enough of these sentences to serve as a control. {said}</p>"
    other_gap, own_gap = (float(gap[layer]) for gap in control.gaps)
    other = html.escape(control.word, quote=False)
    verdict = (
        "The word itself comes apart further than the sentences around it."
        if own_gap > other_gap
        else "So here the gap need not be the word’s sense: what the sentences are about is enough."
    )
    return (
        f"<p><b>Control</b> (dotted): “{other}” in {control.sentences} of the same sentences. At layer {layer} its "
        f"curves lie <b>{other_gap:+.2f}</b> apart, those of “{own_word}” in these sentences <b>{own_gap:+.2f}</b>. "
        f"{verdict} {said}</p>"
    ).replace("-0.", "−0.")


def _pair(i: int, j: int, uses: Sequence[Use]) -> str:
    return f"{use_name(i, uses[i])} and {use_name(j, uses[j])}"


def _guesses(cosine: np.ndarray, uses: Sequence[Use], senses: Sequence[str]) -> str:
    """For each use of unknown sense the mean cosine with each sense's uses, the highest first."""
    groups = [[index for index, use in enumerate(uses) if use.sense == sense] for sense in range(len(senses))]
    if len(groups) < 2:
        return ""
    lines = []
    for index, use in enumerate(uses):
        if use.sense is None:
            means = sorted(((float(cosine[index, group].mean()), senses[k]) for k, group in enumerate(groups)))[::-1]
            rest = ", ".join(f"{html.escape(name)} {rounded(mean)}" for mean, name in means[1:])
            lines.append(
                f"<li>{use_name(index, use)} “{around(use, 40)}” is nearest to <b>{html.escape(means[0][1])}</b> "
                f"<b>{rounded(means[0][0])}</b>, {rest}</li>"
            )
    return f'<ul class="word-guesses">{"".join(lines)}</ul>' if lines else ""


def uses_table(
    cosines: np.ndarray, static: np.ndarray, averages: Contrast | None, uses: Sequence[Use], senses: Sequence[str]
) -> str:
    """Every pair's cosine in the static table and at each layer, the averages first."""
    heads = column_heads(["static", *(f"layer {layer}" for layer in range(len(cosines)))])
    lines: list[tuple[str, float | None, np.ndarray]] = []
    if averages is not None:
        lines += [("<b>same sense, average</b>", None, averages.same)]
        lines += [("<b>different senses, average</b>", None, averages.different)]
    pairs = [(int(i), int(j)) for i, j in zip(*np.triu_indices(len(uses), k=1), strict=True)]
    lines += [(_pair(i, j, uses), float(static[i, j]), cosines[:, i, j]) for i, j in pairs[:SHOWN_PAIRS]]
    body = "".join(
        f'<tr><th scope="row">{name}</th><td>{"–" if flat is None else f"{flat:.4f}"}</td>'
        + "".join(f"<td>{value:.4f}</td>" for value in values)
        + "</tr>"
        for name, flat, values in lines
    )
    more = f" (the first {SHOWN_PAIRS} of {len(pairs)})" if len(pairs) > SHOWN_PAIRS else ""
    listed = "".join(
        f'<tr><th scope="row">{use_name(index, use)}</th>'
        f"<td>{'–' if use.sense is None else html.escape(senses[use.sense])}</td>"
        f'<td class="word-line">{around(use, 400)}</td></tr>'
        for index, use in enumerate(uses)
    )
    return scrolling_table("The uses", column_heads(["use", "sense", "sentence"]), listed) + scrolling_table(
        f"The cosine of every two uses, layer by layer{more}", f'<th scope="col">uses</th>{heads}', body
    )


def word_code(
    spec: ModelSpec, uses: Sequence[Use], senses: Sequence[str], picked: tuple[int, int], averaged: bool
) -> str:
    """Prints each layer's average cosine of one sense and of different senses, or the picked pair's, and the static."""
    needed, source = model_lines(spec)
    listed = "".join(
        f"    ({use.sentence!r}, {use.start}, {use.end}, {None if use.sense is None else senses[use.sense]!r}),\n"
        for use in uses
    )
    i, j = picked
    printed = f"""for layer, row in enumerate(cosine[:, {i}, {j}]):
    print(layer, round(row.item(), 3))"""
    if averaged:
        printed = """known = [i for i, use in enumerate(uses) if use[3] is not None]
pairs = [(i, j) for i in known for j in known if i < j]
same = [(i, j) for i, j in pairs if uses[i][3] == uses[j][3]]
different = [(i, j) for i, j in pairs if uses[i][3] != uses[j][3]]
for layer, matrix in enumerate(cosine):
    averages = [sum(matrix[i, j].item() for i, j in kind) / len(kind) for kind in (same, different)]
    print(layer, *[round(average, 3) for average in averages])"""
    return f"""{needed}import torch
from torch.nn.functional import normalize
from transformers import AutoModel, AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision).eval()

uses = [  # the sentence, where the word begins and ends in it, its sense
{listed}]
vectors, static = [], []
for sentence, start, end, sense in uses:
    inputs = tokenizer(sentence, truncation=True, max_length={MAX_TOKENS}, return_offsets_mapping=True,
                       return_tensors="pt")
    offsets = inputs.pop("offset_mapping")[0].tolist()
    pieces = [k for k, (a, b) in enumerate(offsets) if a < end and b > start]  # the word's own tokens
    with torch.inference_mode():
        hidden_states = model(**inputs, output_hidden_states=True).hidden_states
        vectors.append(torch.stack([states[0, pieces].mean(dim=0) for states in hidden_states]))
        static.append(model.get_input_embeddings().weight[inputs["input_ids"][0, pieces]].mean(dim=0))
vectors = normalize(torch.stack(vectors), dim=-1)  # [uses, layers, width]
cosine = torch.einsum("ild,jld->lij", vectors, vectors)  # [layers, uses, uses]
static = normalize(torch.stack(static), dim=-1)
print("static", round((static[{i}] @ static[{j}]).item(), 3))
{printed}
"""

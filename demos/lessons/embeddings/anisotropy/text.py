"""The shape of the space in words and tables, and the program that prints its numbers (HTML, escaped; Python)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from demos.bert.embeddings.anisotropy import dominating
from demos.bert.embeddings.repairs import Repaired
from demos.bert.embeddings.vector_space import CLS, MEAN, MOST_TOKENS, TOP, WORDS, Space
from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import model_lines
from demos.figures.tables import column_heads, scrolling_table
from demos.lessons.embeddings.anisotropy.figure import NAMES, repair_name

OF = {
    WORDS: "two words of different sentences",
    MEAN: "two sentences, each the mean of its tokens",
    CLS: "two sentences’ [CLS]",
}
TAKEN = {
    WORDS: """chosen = (~special).nonzero()  # [words' tokens, 2]: sentence, place
drawn = np.sort(np.random.default_rng(0).permutation(len(chosen))[:{most}])
rows, places = chosen[torch.from_numpy(drawn)].T""",
    MEAN: "rows = torch.arange(len(sentences))",
    CLS: "rows = torch.arange(len(sentences))",
}
VECTORS = {
    WORDS: "states[rows, places]",
    MEAN: "(states * mask).sum(dim=1) / mask.sum(dim=1)",
    CLS: "states[:, 0]",
}


def listed(numbers: Iterable[object]) -> str:
    """ "223, 338 and 157"."""
    texts = [str(one) for one in numbers]
    return texts[0] if len(texts) < 2 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def space_told(space: Space, kind: str, layer: int) -> str:
    """The picked layer's mean cosine large, what random directions would have, and who makes it so."""
    cloud = space.clouds[kind]
    mean, parts, rest = float(cloud.anisotropy[layer]), cloud.contributions[layer], float(cloud.trimmed[layer])
    top = dominating(parts, TOP)
    lines = [
        f'<p class="shape-number"><b>{mean:.2f}</b> mean cosine of {OF[kind]}, layer {layer}</p>',
        f'<p class="shape-number random"><b>0.00</b> <span>± {1 / math.sqrt(space.width):.2f}</span> of two random '
        f"directions with {space.width:,} numbers</p>",
    ]
    if mean > 0.01:
        still = "still " if rest > 0.8 * mean else ""
        alone, together = parts[top[0]] / mean, float(parts[top].sum()) / mean
        lines.append(
            f"<p>Dimension <b>{top[0]}</b> alone makes <b>{alone:.0%}</b> of it; {listed(top)} make {together:.0%} "
            f"of it, {TOP} of {space.width:,} dimensions. Without these {TOP} the mean is {still}<b>{rest:.2f}</b>.</p>"
        )
    else:
        lines.append(
            "<p>On average these vectors are no more alike than random directions. That does not show that all "
            "directions are equally common: positive and negative cosines can balance.</p>"
        )
    if mean > 0.99:
        short_of = np.format_float_positional(1 - mean, 1, fractional=False)
        lines.append(
            f"<p>Nearly one direction: cosines differ from 1 by {short_of} on average, and what tells the "
            "sentences apart is in those last digits.</p>"
            if 1 - mean > 1e-9
            else "<p>It is the same vector in every sentence: no layer has read the others yet.</p>"
        )
    return "".join(lines)


def sample_told(space: Space) -> str:
    """What was measured, in a sentence."""
    return (
        f'<p class="aside">Measured on {space.sentences:,} of our own sentences on ten topics; of their words '
        f"{space.tokens:,} tokens, drawn once from one seed. Every pair from two different sentences counts.</p>"
    )


def repairs_told(found: Sequence[Repaired], fitted: int, kind: str, layer: int) -> str:
    """What the repairs are worth on this layer, and on what they were fitted."""
    width = found[0].dimensions
    after = [one for one in found[1:] if one.gain is not None]
    helped = [one for one in after if one.gain is not None and one.gain.low > 0]
    harmed = [one for one in after if one.gain is not None and one.gain.high < 0]
    whose = "[CLS]" if kind == CLS else "mean"
    said = [f"<b>{whose}, layer {layer}:</b>"]
    if helped:
        best = max(helped, key=lambda one: one.found.spearman)
        said.append(
            f"the best repair is <b>{repair_name(best, width)}</b>, {found[0].found.spearman:.2f} → "
            f"{best.found.spearman:.2f}."
        )
    else:
        said.append("no repair is clearly better than the vectors as they are.")
    if harmed:
        said.append(f"Clearly worse: {listed([repair_name(one, width) for one in harmed])}.")
    return (
        f"<p>{' '.join(said)}</p>"
        '<p class="aside">Pale bars: the difference may be chance (its 95 % interval, the whisker, crosses the dotted '
        f"line). Means and axes were fitted on {fitted:,} sentences, the pairs’ own among them, without their "
        "ratings. So few sentences measure the narrow axes badly, and whitening all of them turns noise up.</p>"
    )


def space_table(space: Space) -> str:
    """Every layer's numbers: the mean cosines, the dominating dimensions and the lengths."""
    heads: list[str] = ["layer"]
    for name in NAMES.values():
        heads += [f"{name}: mean cosine", f"without {TOP}", "the largest dimensions", "length (5 %, median, 95 %)"]
    body = ""
    for layer in range(space.num_layers + 1):
        cells = ""
        for kind in NAMES:
            cloud = space.clouds[kind]
            parts, mean = cloud.contributions[layer], float(cloud.anisotropy[layer])
            top = ", ".join(
                f"{at} ({parts[at] / mean:.0%})" if mean > 0.01 else str(at) for at in dominating(parts, TOP)
            )
            lengths = ", ".join(f"{value:.2f}" for value in cloud.norms[layer])
            cells += f"<td>{mean:.4f}</td><td>{cloud.trimmed[layer]:.4f}</td><td>{top}</td><td>{lengths}</td>"
        body += f'<tr><th scope="row">{layer}</th>{cells}</tr>'
    return scrolling_table("The mean cosine of strangers, layer by layer", column_heads(heads), body)


def repairs_table(found: Sequence[Repaired]) -> str:
    """Each repair's rho, its interval and the gain's."""
    rows = ""
    for one in found:
        gain = (
            "<td></td><td></td>"
            if one.gain is None
            else f"<td>{one.gain.difference:+.4f}</td><td>{one.gain.low:+.4f} to {one.gain.high:+.4f}</td>"
        )
        rows += (
            f'<tr><th scope="row">{repair_name(one, found[0].dimensions)}</th><td>{one.found.spearman:.4f}</td>'
            f"<td>{one.found.low:.2f} to {one.found.high:.2f}</td>{gain}</tr>"
        )
    heads = ("repair", "Spearman’s ρ", "95 % interval", "gain", "its 95 % interval")
    return scrolling_table(f"{len(found[0].cosines):,} rated pairs after each repair", column_heads(heads), rows)


def shape_code(spec: ModelSpec, sentences: int, kind: str, layer: int) -> str:
    """Prints each layer's mean cosine of strangers, and on the picked one the dimensions that contribute most."""
    needed, source = model_lines(spec)
    return f"""{needed}import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

{source}
with open("assets/data/library.tsv", encoding="utf-8") as file:  # run in the project's folder
    sentences = [line.rstrip("\\n").split("\\t")[1] for line in file][1:{sentences + 1}]
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision).eval()

inputs = tokenizer(sentences, padding=True, return_special_tokens_mask=True, return_tensors="pt")
special = inputs.pop("special_tokens_mask").bool()  # [CLS], [SEP] and padding
mask = inputs["attention_mask"][..., None]
with torch.inference_mode():
    hidden_states = model(**inputs, output_hidden_states=True).hidden_states
{TAKEN[kind].format(most=MOST_TOKENS)}
strangers = rows[:, None] != rows[None, :]  # pairs from two sentences
for layer, states in enumerate(hidden_states):
    vectors = ({VECTORS[kind]}).double()
    units = vectors / vectors.norm(dim=1, keepdim=True)
    print(layer, round((units @ units.T)[strangers].mean().item(), 4))
    if layer == {layer}:
        of_sentence = torch.zeros(len(sentences), units.shape[1]).double().index_add(0, rows, units)
        parts = (units.sum(dim=0) ** 2 - (of_sentence**2).sum(dim=0)) / strangers.sum()
        for dimension in parts.argsort(descending=True)[:{TOP}].tolist():
            print("  dimension", dimension, "adds", round(parts[dimension].item(), 4))
"""

"""The way of a sentence through the model as one picture: one row for each token, from word piece to last vector."""

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from demos.bert.attention.strongest import share_of, strongest_sources
from demos.bert.encoder.input import InputLedger
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.bert.model.run import Run
from demos.bert.pretraining.guesses import Guess
from demos.figures.cell_strip import cells, in_base64, shades
from demos.figures.program import begin, texts_of
from demos.figures.strips import strips_limit
from demos.figures.token_chips import hue, visible
from demos.templates import templates

TEXT = templates(__file__)
MAX_ROWS = 48  # tokens drawn
SOURCES = 3  # lines that end at each token in each layer
FAINTEST = 0.02  # of a token's weight of 1; weaker lines are not drawn
INPUT_CELLS, STATE_CELLS = 12, 16  # numbers drawn of each vector
VECTOR_CELLS = 96  # of the sentence's vector


@dataclass(frozen=True)
class HiddenWord:
    """The model's guesses for one masked token."""

    place: int
    token: str  # the token at that position; [MASK] where the sentence has one
    best: tuple[Guess, ...]
    model: str
    vocabulary: int  # words that are ranked
    rank: int = 0  # of the token itself, 1 for the likeliest; 0 where it is not known
    probability: float = 0.0  # the same
    small: str = ""  # HTML: what is said of a small model


@dataclass(frozen=True)
class Classes:
    """The prediction of the reader's own classifier for the sentence."""

    probabilities: dict[str, float]
    model: str


def rows_of(encoding: Encoding) -> int:
    """The number of the sentence's tokens in the picture."""
    return min(len(encoding), MAX_ROWS)


def overview_html(run: Run, ledger: InputLedger, chosen: int) -> Markup:
    """The stations from left to right; `chosen` is the token whose way is marked."""
    n, encoding = rows_of(run.encoding), run.encoding
    hues = [hue(word) for word in encoding.word_index[:n]]
    tokens = [
        {
            "text": visible(encoding.tokens[place]),
            "id": encoding.input_ids[place],
            "segment": "AB"[encoding.token_type_ids[place]],
            "hue": hues[place],
            "name": "C" if place == 0 else f"T{place}",
        }
        for place in range(n)
    ]
    special = [place for place, mark in enumerate(encoding.special_tokens_mask) if mark]
    sources, weights = strongest_sources(run.attentions[:, :, :n], SOURCES, special)
    layers = [
        {
            "lines": _lines(sources[layer], weights[layer], hues),
            "states": _column(run.hidden_states[layer + 1, :n], STATE_CELLS),
        }
        for layer in range(run.num_layers)
    ]
    parts = {"token": ledger.word, "segment": ledger.segment, "position": ledger.position}
    added = {name: part[:n] for name, part in parts.items() if part is not None}
    limit = strips_limit(list(added.values()))
    inputs = {name: _column(part, INPUT_CELLS, limit) for name, part in added.items()}
    summed = _column(run.hidden_states[0, :n], INPUT_CELLS)
    share = share_of(run.attentions, special)
    return TEXT.overview(tokens, inputs, summed, layers, chosen, len(encoding) - n, share)


def exits_html(
    run: Run, hidden: HiddenWord | None, vector: np.ndarray, classes: Classes | None, wordless: bool = False
) -> Markup:
    """The three uses of the outputs: guesses for the masked word, the sentence's vector [d], a class.

    Without `hidden`, the text says why: a sentence that is `wordless`, or a model without a masked-word head.
    """
    shown = vector[:VECTOR_CELLS]
    strip = cells(shown, strips_limit([vector]), "mean of the token vectors")
    word = hue(run.encoding.word_index[hidden.place]) if hidden else ""
    return TEXT.exits(hidden, word, strip, len(vector), len(shown), len(run.encoding), classes, wordless)


def numbers_html(run: Run, ledger: InputLedger) -> Markup:
    """The picture as a table: the norms of each token's vectors, and where its strongest attention comes from."""
    n, tokens = rows_of(run.encoding), run.encoding.tokens
    sources, weights = strongest_sources(run.attentions[:, :, :n], 1)
    norms = np.linalg.norm(run.hidden_states, axis=-1)  # [L + 1, n]
    rows = [
        {
            "token": visible(tokens[at]),
            "input": float(np.linalg.norm(ledger.total[at])),
            "norms": norms[:, at].tolist(),
            "sources": [
                (visible(tokens[source]), float(weight))
                for source, weight in zip(sources[:, at, 0], weights[:, at, 0], strict=True)
            ],
        }
        for at in range(n)
    ]
    return TEXT.numbers(rows, run.num_layers)


def _lines(sources: np.ndarray, weights: np.ndarray, hues: list[str]) -> Markup:
    """The lines of one layer: for each of the tokens drawn, which have `hues`, its `sources` and `weights` [n, k]."""
    pattern = str(TEXT.line())
    lines = [
        pattern.format(hue=hues[source], source=source, target=target, weight=weight)
        for target, strongest in enumerate(zip(sources.tolist(), weights.tolist(), strict=True))
        for source, weight in zip(*strongest, strict=True)
        if weight >= FAINTEST and source < len(hues)
    ]
    return Markup("".join(lines))  # of numbers and names of ours: nothing is to be escaped


def _column(vectors: np.ndarray, count: int, limit: float | None = None) -> dict[str, str | int]:
    """The first `count` numbers of each token's vector <float>[n, d] as coloured cells, one row per token.

    Colours run to `limit`, or to these vectors' own.
    """
    places = shades(vectors[:, :count], limit or strips_limit([vectors]))
    return {"places": in_base64(places), "width": count, "height": len(vectors)}


def overview_code(spec: ModelSpec, encoding: Encoding) -> str:
    """Prints each token with the norm of its input and output vectors and where each layer's attention mostly goes."""
    return f"""{begin(spec, texts_of(encoding), attentions=True)}with torch.inference_mode():
    output = model(**inputs, output_hidden_states=True, output_attentions=True)

tokens = inputs.tokens()
states = torch.stack(output.hidden_states)[:, 0]  # [layers + 1, tokens, width]; the first is the input
mean = torch.stack(output.attentions)[:, 0].mean(dim=1)  # [layers, tokens, tokens]: the mean of the heads
for place, token in enumerate(tokens):
    norms = [round(norm, 3) for norm in states[:, place].norm(dim=-1).tolist()]
    print(token, inputs.input_ids[0, place].item(), *norms)
    print("  attends most to", *[tokens[source] for source in mean[:, place].argmax(dim=-1).tolist()])
vector = states[-1].mean(dim=0)  # one vector for the sentence
print([round(number, 4) for number in vector[:8].tolist()])
"""

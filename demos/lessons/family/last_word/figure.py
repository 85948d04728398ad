"""The change of each state with the last word, for BERT above the decoder; and the masks of both."""

import numpy as np

from demos.bert.causal.last_word import Changes
from demos.bert.encoder.masks import with_last_word
from demos.figures.axes import panel_title
from demos.figures.figure.figure import Figure
from demos.figures.fonts.fonts import SMALL
from demos.figures.matrix import BAR, BARE, NO_VALUE
from demos.figures.palette import colour_scale, plotly_layout
from demos.lessons.family.program_decoder import DECODER
from demos.templates import plot_text, templates

TEXT = templates(__file__)
ROW = 24  # pixels of a state
TITLE = 17  # pixels
LOWER, UPPER = 0.42, 0.58  # shares of the height: where the lower picture ends, and where the upper one begins
SEEN = 0.9  # the colour of a pair that attends


def changes_figure(bert: Changes, decoder: Changes, name: str, shown: int) -> Figure:
    """Two heatmaps over the same tokens: one row per state, the last layer on top, darker for a larger change."""
    limit = max(0.01, *(float(np.nanmax(changes.moved)) for changes in (bert, decoder)))
    first = max(0, len(bert.encoding) - shown)
    traces = [
        {
            "type": "heatmap",
            "x": _names(changes, first),
            "y": _states(changes),
            "z": np.round(changes.moved[:, first:], 5),
            "zmin": 0,
            "zmax": limit,
            "colorscale": colour_scale("magnitude"),
            "hoverongaps": False,
            "hovertemplate": "<b>%{x}</b>, %{y}<br>1 − cosine %{z:.4f}<extra></extra>",
            "xgap": 1,
            "ygap": 1,
            "colorbar": BAR | {"tickformat": ".2~f", "nticks": 6},
            "showscale": changes is bert,
            "xaxis": axis,
            "yaxis": axis.replace("x", "y"),
        }
        for changes, axis in ((bert, "x"), (decoder, "x2"))
    ]
    names = _names(bert, first)
    side = BARE | {"tickfont": {"size": SMALL}}
    ticks = {"tickvals": names, "ticktext": [label.split(" ", 1)[1] for label in names], "tickangle": -90}
    layout = plotly_layout(
        height=150 + ROW * (len(bert.moved) + len(decoder.moved)),
        margin={"l": 96, "r": 10, "t": 30, "b": 90},
        plot_bgcolor=NO_VALUE,
        xaxis=side | {"anchor": "y", "domain": [0, 1], "matches": "x2", "showticklabels": False},
        yaxis=side | {"anchor": "x", "domain": [UPPER, 1]},
        xaxis2=side | {"anchor": "y2", "domain": [0, 1]} | ticks,
        yaxis2=side | {"anchor": "x2", "domain": [0, LOWER]},
        annotations=[
            panel_title(f"{plot_text(name)}: both sides", [0, 1], size=TITLE),
            panel_title("The decoder: only the left", [0, 1], LOWER, size=TITLE),
        ],
    )
    return {"data": traces, "layout": layout}


def masks_figure(bert: Changes, decoder: Changes, shown: int) -> Figure:
    """The mask of every layer: a filled cell for each query (down) that may attend to a key (across)."""
    traces = []
    for changes, mask_of, axis in ((bert, np.ones_like, "x"), (decoder, np.tril, "x2")):
        names = _names(changes, max(0, len(changes.encoding) - shown))
        mask = mask_of(np.ones((len(names), len(names))))
        heatmap = {
            "type": "heatmap",
            "x": names,
            "y": names,
            "z": np.where(mask > 0, SEEN, np.nan),
            "zmin": 0,
            "zmax": 1,
            "colorscale": colour_scale("magnitude"),
            "hoverongaps": False,
            "hovertemplate": "<b>%{y}</b> attends to <b>%{x}</b><extra></extra>",
            "xgap": 1,
            "ygap": 1,
            "showscale": False,
            "xaxis": axis,
            "yaxis": axis.replace("x", "y"),
        }
        traces.append(heatmap)
    key = BARE | {"showticklabels": False, "title": {"text": "key", "standoff": 4}}
    query = BARE | {"showticklabels": False, "autorange": "reversed", "title": {"text": "query", "standoff": 4}}
    query |= {"domain": [0, 1]}
    layout = plotly_layout(
        height=230,
        margin={"l": 24, "r": 6, "t": 30, "b": 24},
        plot_bgcolor=NO_VALUE,
        xaxis=key | {"anchor": "y", "domain": [0, 0.45]},
        yaxis=query | {"anchor": "x"},
        xaxis2=key | {"anchor": "y2", "domain": [0.55, 1]},
        yaxis2=query | {"anchor": "x2"},
        annotations=[
            panel_title("BERT's mask", [0, 0.45], size=TITLE),
            panel_title("Decoder's mask", [0.55, 1], size=TITLE),
        ],
    )
    return {"data": traces, "layout": layout}


def summary_html(bert: Changes, decoder: Changes, word: str, name: str, shown: int) -> str:
    """The number of tokens before the word that change in each model, in the last layer."""
    before = bert.replaced[0] if bert.replaced else len(bert.encoding)
    counts = [changes.changed(before) for changes in (bert, decoder)]
    largest = float(np.nanmax(decoder.moved[:, :before])) if before else 0.0
    return TEXT.summary(word, name, before, counts, largest, bert.replaced, max(0, len(bert.encoding) - shown))


def numbers_html(bert: Changes, decoder: Changes, name: str) -> str:
    """Both as tables: one row per token, one column per state."""
    return TEXT.numbers(
        [
            (title, _states(changes), list(zip(changes.encoding.tokens, changes.moved.T.tolist(), strict=True)))
            for title, changes in ((name, bert), ("The decoder", decoder))
        ]
    )


def _names(changes: Changes, first: int) -> list[str]:
    return [f"{at} {plot_text(token)}" for at, token in enumerate(changes.encoding.tokens)][first:]


def _states(changes: Changes) -> list[str]:
    """Of the states 0 to L, as the page counts them."""
    return ["embeddings", *(f"layer {layer}" for layer in range(1, len(changes.moved)))]


def changes_code(text: str, word: str) -> str:
    """Prints 1 - cosine of the last layer's states before and after, up to the first token that differs."""
    return f"""{DECODER}
states = []
for text in ({text!r}, {with_last_word(text, word)!r}):
    ids = torch.tensor([tokenizer(text)["input_ids"][:-1]])  # without [SEP]
    with torch.inference_mode():
        hidden = model.bert(ids, output_hidden_states=True, use_cache=False).hidden_states
    states.append((ids[0].tolist(), hidden[-1][0]))
(old_ids, old), (new_ids, new) = states
for at, (old_id, new_id) in enumerate(zip(old_ids, new_ids)):
    change = 1 - torch.cosine_similarity(old[at], new[at], dim=0).item()
    print(tokenizer.convert_ids_to_tokens(old_id), round(change, 4))
    if old_id != new_id:
        break
"""

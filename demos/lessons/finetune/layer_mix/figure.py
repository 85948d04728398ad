"""The shares of the layers in the mix, drawn (Plotly)."""

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.figures.axes import BOTH_PAPERS, axis, level_line
from demos.figures.figure.figure import Figure
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.program import model_lines
from demos.files import read_filled
from demos.training import bilstm_tagger as bilstm
from demos.training.layer_mix import DECAY, EPSILON, MIX_RATE, RATE, STEPS


def shares_figure(shares: Sequence[float]) -> Figure:
    """One bar per layer, 0 to L, its share under it; a dashed line where all shares would be equal."""
    layers = list(range(len(shares)))
    bars = {
        "type": "bar",
        "x": layers,
        "y": [round(share, 4) for share in shares],
        "marker": {"color": CLASSES[0]},
        "hovertemplate": "layer %{x}<br>share %{y:.3f}<extra></extra>",
    }
    named = [f"<b>{layer}</b><br>{share:.2f}" for layer, share in zip(layers, shares, strict=True)]
    layout = plotly_layout(
        height=380,
        margin={"l": 66, "r": 12, "t": 26, "b": 80},
        showlegend=False,
        shapes=[level_line(1 / len(shares), dash="dash", width=1.5, color=BOTH_PAPERS)],
        xaxis=axis("layer (0: embeddings), and its share", tickvals=layers, ticktext=named, tickangle=0),
        yaxis=axis("share of the layer", range=[0, 1.02]),
    )
    return {"data": [bars], "layout": layout}


def mix_code(spec: ModelSpec) -> str:
    """Prints the shares, gamma and the F1 of the held-out sentences; then that of a BiLSTM on the last four layers."""
    needed, source = model_lines(spec)
    filled = {"IMPORTS": needed, "SOURCE": source, "EPSILON": EPSILON, "RATE": RATE, "MIX_RATE": MIX_RATE,
              "DECAY": DECAY, "STEPS": STEPS, "UNITS": bilstm.UNITS, "LAYERS": bilstm.LAYERS,
              "DROPOUT": bilstm.DROPOUT, "LSTM_RATE": bilstm.RATE, "EPOCHS": bilstm.EPOCHS,
              "BATCH": bilstm.BATCH}  # fmt: skip
    return read_filled(__file__, "program.txt", {f"<{name}>": value for name, value in filled.items()})

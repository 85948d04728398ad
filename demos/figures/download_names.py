"""Names and texts of files to download: attention as a JSON document, and file names that describe their contents."""

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np

from demos.bert.model.encoding import truncation_notice
from demos.bert.model.run import Run
from demos.files import Json
from demos.system import is_device

DIGITS = 6  # of a weight: as many as float32 holds of a number below 1
LONGEST_NAME = 80
ATTENTION_SOURCES = (
    "Vaswani et al. 2017, Attention Is All You Need, equation 1: softmax(Q K^T / sqrt(d_k)), one row per query.",
    "Devlin et al. 2019, BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding.",
)
CONTRIBUTION_SOURCE = (
    "Kobayashi et al. 2020, Attention is Not Only a Weight: Analyzing Transformers with Vector Norms, section 2."
)


def file_name(*parts: object, extension: str) -> str:
    """`bert-attention-layer0-head2.json` from ("bert-attention", "layer0", "head2"): letters a to z, digits, . and -.

    Whatever else a part holds (a model's title, a word someone typed) becomes a hyphen, so that no file system minds.
    """
    ascii_only = unicodedata.normalize("NFKD", "-".join(map(str, parts))).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^a-z0-9.]+", "-", ascii_only.lower())
    plain = re.sub(r"\.{2,}", ".", plain).strip(".-")[:LONGEST_NAME].strip(".-")
    if not plain or is_device(plain):
        plain = f"bert-{plain}".removesuffix("-")
    return f"{plain}.{extension}"


def run_folder(data: str) -> str:
    """The name of a run's downloaded folder, by its data's name: "bert-emotion"."""
    return file_name("bert", Path(data).stem, extension="zip").removesuffix(".zip").replace(".", "-")


def attention_json(run: Run, title: str, layer: int, head: int, lengths: np.ndarray | None = None) -> str:
    """One head's weights as a JSON document (text): tokens, segments, model, weights and where they come from.

    `weights` is n x n, one row per query. `title` is the model's (`ModelSpec.title`). With the `lengths` [n] of this
    head's transformed values, also these and the norms of the contributions, n x n.
    """
    document: Json = {
        "what": "BERT's attention weights: weights[...][query][key], each row sums to 1",
        "model": {"key": run.model, "title": title, "layers": run.num_layers, "heads": run.num_heads},
        "text": run.encoding.text,
        "text_pair": run.encoding.text_pair,
        "tokens": list(run.encoding.tokens),
        "segments": list(run.encoding.token_type_ids),
        "special": [bool(special) for special in run.encoding.special_tokens_mask],
        "layer": layer,
        "head": head,
        "weights": rounded(run.attentions[layer, head]),
        "sources": list(ATTENTION_SOURCES),
    }
    if lengths is not None:
        document["transformed_lengths"] = rounded(lengths)
        document["norms"] = rounded(run.attentions[layer, head] * lengths)
        document["what"] += (
            "; transformed_lengths[key] = |f(x)| with this head's f(x) = (x W_V + b_V) W_O; "
            "norms[query][key] = weights[query][key] x |f(x)|, which do not sum to 1"
        )
        document["sources"].append(CONTRIBUTION_SOURCE)
    if notice := truncation_notice(run.encoding):
        document["notice"] = notice
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def rounded(values: np.ndarray) -> list[Any]:
    """Nested lists of `values` (any shape) with 6 digits, null for nan: what JSON documents hold."""
    digits = np.round(values.astype(np.float64), DIGITS).astype(object)
    digits[~np.isfinite(values)] = None
    return digits.tolist()

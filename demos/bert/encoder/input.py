"""The input of the first layer: word + segment + position embedding, then LayerNorm, with every step kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.encoder.norm_and_feed_forward import NormLedger, layer_norm
from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.encoding import Encoding
from demos.bert.model.layer_weights import Norm
from demos.bert.model.models import LoadedModel


@dataclass(frozen=True)
class Tables:
    """The learned tables of a model's embedding layer:

    V pieces, P positions, d wide. Nothing is copied from the model.
    """

    words: np.ndarray  # <float32>[V, d]
    positions: np.ndarray  # <float32>[P, d]
    segments: np.ndarray | None  # <float32>[2, d]; None for DistilBERT, which has none
    norm: Norm


@dataclass(frozen=True)
class InputLedger:
    """One input's way to the first layer; n tokens, d wide (Devlin et al. 2019, section 3, figure 2)."""

    word: np.ndarray  # <float32>[n, d]
    segment: np.ndarray | None  # <float32>[n, d], None where the model has no segments
    position: np.ndarray  # <float32>[n, d]
    total: np.ndarray  # <float32>[n, d] = word + segment + position
    norm: NormLedger  # its result is what the first layer reads

    @property
    def result(self) -> np.ndarray:
        return self.norm.result

    def difference(self, embedding_output: np.ndarray) -> float:
        """The furthest that `result` lies from the model's own embedding output, hidden_states[0]."""
        return float(np.abs(self.result - embedding_output).max())


@dataclass(frozen=True)
class Selection:
    """One token's row of the word matrix and the rows around it (Devlin et al. 2019; WordPiece embeddings)."""

    input_id: int
    vocabulary: int  # V
    row: np.ndarray  # <float32>[d] = words[input_id] = one-hot [V] @ words [V, d]
    neighbours: tuple[int, ...]  # ids around input_id, itself among them, ascending
    around: np.ndarray  # <float32>[len(neighbours), d]: their rows


def embedding_tables(model: Any) -> Tables:
    """The four tables of a BertModel or a DistilBertModel; both architectures name them alike."""
    layer = model.embeddings
    segments = getattr(layer, "token_type_embeddings", None)
    return Tables(
        words=_array(layer.word_embeddings.weight),
        positions=_array(layer.position_embeddings.weight),
        segments=None if segments is None else _array(segments.weight),
        norm=Norm(_array(layer.LayerNorm.weight), _array(layer.LayerNorm.bias), float(layer.LayerNorm.eps)),
    )


def input_states(loaded: LoadedModel, encoding: Encoding) -> np.ndarray:
    """The model's own embedding output <float32>[n, d]: a run's hidden_states[0], without the layers."""
    inputs = model_inputs(loaded, [encoding])
    del inputs["attention_mask"]
    with torch.inference_mode():
        return _array(loaded.model.embeddings(**inputs)[0])


def add_up(tables: Tables, encoding: Encoding) -> InputLedger:
    """word + segment + position of each token, and LayerNorm of the sum, from the model's own tables."""
    word = tables.words[list(encoding.input_ids)]  # [n, d]
    position = tables.positions[: len(encoding)]
    segment = None if tables.segments is None else tables.segments[list(encoding.token_type_ids)]
    total = word + position if segment is None else word + segment + position
    return InputLedger(word, segment, position, total, layer_norm(tables.norm, total))


def select(tables: Tables, input_id: int) -> Selection:
    """The embedding of one id, looked up: a one-hot row vector times the matrix is this row, to the bit."""
    size = len(tables.words)
    neighbours = tuple(range(max(0, input_id - 1), min(size, input_id + 2)))
    return Selection(input_id, size, tables.words[input_id], neighbours, tables.words[list(neighbours)])


def _array(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().float().numpy()

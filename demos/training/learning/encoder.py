"""An encoder run in two halves, so that what its frozen layers make of a sentence is kept and used again."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers.masking_utils import create_bidirectional_mask

from demos.bert.model.layer_weights import layer_of
from demos.training.tasks.task import Batch, Features

MAX_CACHE_BYTES = 2**30


@torch.no_grad()
def lower(
    encoder: Any,
    layers: int,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    token_type_ids: torch.Tensor | None = None,
) -> torch.Tensor:
    """The embeddings and the first `layers` (0..L) layers, without a gradient: [R, n] each -> states [R, n, d].

    DistilBERT has no segments: `token_type_ids` are then not read.
    """
    segments = {}
    if token_type_ids is not None and encoder.config.model_type != "distilbert":
        segments["token_type_ids"] = token_type_ids
    return _layers(encoder, range(layers), encoder.embeddings(input_ids=input_ids, **segments), attention_mask)


def upper(encoder: Any, layers: int, states: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    """The layers above the first `layers`, with a gradient: states [R, n, d] -> last states [R, n, d].

    On the same batch both halves equal the encoder's own pass bit for bit. States kept from a batch that was padded
    to another length give the same up to float32 rounding.
    """
    return _layers(encoder, range(layers, encoder.config.num_hidden_layers), states, attention_mask)


def _layers(encoder: Any, chosen: range, states: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    # The mask takes its type from the states. Under autocast those between two layers may be bfloat16; the encoder's
    # own pass makes it from the embeddings, which are not.
    like = states.to(encoder.dtype)
    mask = create_bidirectional_mask(config=encoder.config, inputs_embeds=like, attention_mask=attention_mask)
    for layer in chosen:
        states = layer_of(encoder, layer)(states, mask)
    return states


class States:
    """States [n, d] of every sequence of an example, by the example. Those beyond the room are computed each time."""

    def __init__(self, max_bytes: int | None = None) -> None:
        self.max_bytes = MAX_CACHE_BYTES if max_bytes is None else max_bytes
        self.nbytes = 0
        self._states: dict[int, list[torch.Tensor]] = {}  # by id: a run holds its features as long as this

    def put(self, batch: Batch, states: torch.Tensor) -> int:
        """Keep the states [R, n, d] of a batch, its padding left out, as many as fit; returns of how many examples."""
        lengths = batch.attention_mask.sum(dim=1).tolist()
        row = 0
        for done, feature in enumerate(batch.features):
            rows = range(row, row + len(feature.sequences))
            size = 4 * sum(lengths[place] for place in rows) * states.shape[-1]
            if self.nbytes + size > self.max_bytes:
                return done
            self._states[id(feature)] = [states[place, : lengths[place]].float().clone() for place in rows]
            self.nbytes += size
            row = rows.stop
        return len(batch.features)

    def get(self, features: Sequence[Features]) -> torch.Tensor | None:
        """The batch's states [R, n, d], zeros at its padding, or None where one of its examples is not kept."""
        if not all(id(feature) in self._states for feature in features):
            return None
        return pad_sequence([row for feature in features for row in self._states[id(feature)]], batch_first=True)

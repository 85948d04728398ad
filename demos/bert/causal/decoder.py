"""The bundled decoder: the bundled encoder, trained on under a causal mask to predict the next word piece.

Its file holds the differences to the bundled encoder (demos/training/causal; assets/causal/README.md says how).
"""

from dataclasses import replace
from pathlib import Path

import torch
from transformers import BertForMaskedLM, Cache

from demos.bert.encoder.masks import causal
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.heads import OURS, Pretrained, of_bert, with_weights
from demos.bert.pretraining.heads_file import read_heads
from demos.files import ASSETS

OUR_DECODER = ASSETS / "causal" / "decoder.safetensors"
WINDOW = 95  # tokens that the decoder reads at most, [CLS] among them; its training read no more


def our_decoder(loaded: LoadedModel, path: Path = OUR_DECODER) -> Pretrained:
    """The decoder in `path`, on the bundled encoder. Its layers compute as BERT's do until given a causal mask."""
    state, about = read_heads(path, loaded.model.state_dict())
    whole = with_weights(BertForMaskedLM, loaded, state, path)
    title = f"{loaded.spec.title.partition(' (')[0]} as a decoder"
    note = "trained on by this project to predict the next word piece"
    spec = replace(loaded.spec, key=f"{loaded.spec.key} decoder", title=title, mlm=False, nsp=False, note=note)
    return of_bert(spec, loaded.tokenizer, whole, {"trained_by": OURS} | about)


def causal_mask(n: int) -> torch.Tensor:
    """<float32>[1, 1, n, n]: what is added to the scores, 0 on and below the diagonal, else float32's least number."""
    return torch.zeros(1, 1, n, n).masked_fill(~torch.from_numpy(causal(n)), torch.finfo(torch.float32).min)


def causal_states(decoder: Pretrained, input_ids: torch.Tensor) -> torch.Tensor:
    """<int64>[B, n] without padding -> last hidden states [B, n, d], none of which depends on a later token."""
    states: torch.Tensor = decoder.encoder.model(
        input_ids=input_ids, attention_mask=causal_mask(input_ids.shape[1])
    ).last_hidden_state
    return states


def states_after(
    decoder: Pretrained, input_ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor, before: Cache
) -> torch.Tensor:
    """<int64>[B, m] at `positions` [B, m] -> last hidden states [B, m, d] of tokens that follow those in `before`.

    `mask` <float32>[B or 1, 1, m, n] hides from each of the m tokens some of all n: those before, then these. Their
    keys and values join `before`.
    """
    model = decoder.encoder.model
    states: torch.Tensor = model.embeddings(input_ids=input_ids, position_ids=positions)
    for layer in model.encoder.layer:
        states = layer(states, mask, None, None, before)
    return states


def next_word_logits(decoder: Pretrained, input_ids: torch.Tensor) -> torch.Tensor:
    """<int64>[B, n] without padding -> <float32>[B, n, V]: at each place a score for each word piece that may follow.

    As transformers' BertLMHeadModel with `is_decoder=True` computes them.
    """
    return decoder.word_logits(causal_states(decoder, input_ids))

"""An encoder with both pre-training heads: a Hub model's own, or ours on the bundled encoder."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoModelForMaskedLM, AutoModelForPreTraining, BertForPreTraining

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.linear import apply_to_few
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel, nbytes_of
from demos.bert.model.once_cache import Recent
from demos.bert.model.weights import read_weights
from demos.bert.pretraining.heads_file import read_heads
from demos.errors import UserError
from demos.files import ASSETS

OUR_HEADS = ASSETS / "pretraining" / "heads.safetensors"
OURS = "Inside BERT"
FEW = 14  # rows


@dataclass(frozen=True)
class WithHeads:
    """An encoder with both pre-training heads, and what they make of its states."""

    encoder: Any
    transform: nn.Module  # last hidden states [..., d] -> [..., d]: dense, GELU, LayerNorm
    decoder: nn.Linear  # [..., d] -> logits [..., V]; its matrix is the word embeddings
    pooler: nn.Module | None  # hidden states [B, n, d] -> [B, d]: tanh of a dense layer on [CLS]
    relation: nn.Linear | None  # [B, d] -> logits [B, 2] of IsNext and NotNext, in transformers' order

    def decode(self, transformed: torch.Tensor) -> torch.Tensor:
        """[..., d] -> [..., V]: what the decoder makes of transformed states."""
        if torch.is_grad_enabled() or not 0 < transformed[..., 0].numel() <= FEW:
            return self.decoder(transformed)
        return apply_to_few(self.decoder, transformed)

    def word_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """[..., d] -> [..., V]: a score for each word piece (Devlin et al. 2019, section 3.1, task 1)."""
        return self.decode(self.transform(hidden))

    def next_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """[B, n, d] -> [B, 2]: IsNext, NotNext (the same, task 2). The model must have that head."""
        assert self.pooler is not None
        assert self.relation is not None
        return self.relation(self.pooler(hidden))


@dataclass(frozen=True)
class Pretrained(WithHeads):
    """A model that can do what BERT was pre-trained to do. Shared by all readers: never train it.

    For the bundled model `encoder` is another one than the bar's: its layers were trained on together with the heads.
    """

    encoder: LoadedModel  # as any other model: runs, attention, vectors
    about: dict[str, str]  # the origin of the heads: "trained_by", and for ours "tokens", "steps", "data"

    @property
    def tokenizer(self) -> Any:
        return self.encoder.tokenizer

    def next_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """As above. Raises UserError for a model without that head."""
        if self.relation is None:
            title = self.encoder.spec.title
            raise UserError(f"{title} was not pre-trained on next sentences; choose a BERT model or the bundled model.")
        return super().next_logits(hidden)


def our_heads(loaded: LoadedModel, path: Path = OUR_HEADS) -> Pretrained:
    """The bundled encoder after further training here, with the heads in `path`."""
    state, about = read_heads(path, loaded.model.state_dict())
    whole = with_weights(BertForPreTraining, loaded, state, path)
    title = f"{loaded.spec.title.partition(' (')[0]} with this app's heads"
    note = "trained on by this project for masked words and next sentences"
    spec = replace(loaded.spec, key=f"{loaded.spec.key} heads", title=title, mlm=True, nsp=True, note=note)
    return of_bert(spec, loaded.tokenizer, whole, {"trained_by": OURS} | about)


def with_weights(kind: Any, loaded: LoadedModel, state: Mapping[str, torch.Tensor], path: Path) -> Any:
    """A model of transformers' class `kind` with this encoder's configuration and the weights read from `path`.

    Its output is tied to its word embeddings. Raises RuntimeError where the weights do not fit.
    """
    config = copy.deepcopy(loaded.model.config)
    config.tie_word_embeddings = True
    whole, info = read_weights(kind, None, config=config, state_dict=dict(state), output_loading_info=True)
    if info["missing_keys"] or info["unexpected_keys"]:
        left, unknown = sorted(info["missing_keys"]), sorted(info["unexpected_keys"])
        raise RuntimeError(f"{path.name} does not fit: {left} missing, {unknown} unknown.")
    return whole


def own_heads(loaded: LoadedModel, folder: Path) -> Pretrained:
    """The heads in a Hub model's own files.

    Raises UserError where the files hold none: transformers would make them up at random.
    """
    kind = AutoModelForPreTraining if loaded.spec.nsp else AutoModelForMaskedLM
    whole, info = read_weights(kind, folder, output_loading_info=True)
    if info["missing_keys"]:
        raise UserError(f"The files of {loaded.spec.title} contain no pre-training heads.")
    about = {"trained_by": loaded.spec.hub_id.partition("/")[0]}
    if hasattr(whole, "bert"):
        return of_bert(loaded.spec, loaded.tokenizer, whole, about, loaded.model)
    # DistilBERT keeps its parts loose, and has no next-sentence head.
    transform = nn.Sequential(whole.vocab_transform, whole.activation, whole.vocab_layer_norm)
    whole.vocab_projector.weight = loaded.model.get_input_embeddings().weight
    transform, decoder = (module.eval().requires_grad_(False) for module in (transform, whole.vocab_projector))
    return Pretrained(loaded, transform, decoder, None, None, about)


def of_bert(spec: Any, tokenizer: Any, whole: Any, about: dict[str, str], encoder: Any = None) -> Pretrained:
    """`whole`'s encoder and the heads in its `cls`.

    `encoder`, where it is given, replaces `whole`'s own, which is then freed: one copy in memory, not two.
    """
    whole = whole.eval().requires_grad_(False)
    predictions = whole.cls.predictions
    if encoder is not None and whole.config.tie_word_embeddings:
        predictions.decoder.weight = encoder.get_input_embeddings().weight
    encoder = whole.bert if encoder is None else encoder
    return Pretrained(
        encoder=LoadedModel(spec, tokenizer, encoder),
        transform=predictions.transform,
        decoder=predictions.decoder,
        pooler=whole.bert.pooler if spec.nsp else None,
        relation=whole.cls.seq_relationship if spec.nsp else None,
        about=about,
    )


class PretrainedModels:
    """The heads of models, least recently used out first within the memory budget; safe for many threads.

    They are read outside of the lock, once for all threads, and keep no reference to their model: a model that the
    store dropped is in memory only once when it is read again.
    """

    def __init__(self, memory: Budget | None = None) -> None:
        self._models: Recent[Pretrained] = Recent(size=_nbytes, budget=memory, kind="pre-training heads")

    def get(self, loaded: LoadedModel, folder: Callable[[str], Path]) -> Pretrained:
        """`loaded` with its heads, read now where that was not done; `folder` says where a key's files are.

        Raises UserError where the model has no such heads, or they have no room.
        """
        key = loaded.spec.key
        if key != BUNDLED and not loaded.spec.mlm:
            raise UserError(f"{loaded.spec.title} has no masked-word head; choose the bundled model or a BERT model.")

        def read(take: Callable[[float], None]) -> Pretrained:
            take(loaded.nbytes)  # of a whole model: ours has a separate encoder, another's is read and let go
            return our_heads(loaded) if key == BUNDLED else _loose(own_heads(loaded, folder(key)))

        return _tied(self._models.make(key, read), loaded)

    def make(self, key: str, loaded: LoadedModel, read: Callable[[LoadedModel], Pretrained]) -> Pretrained:
        """The result of `read` for `loaded`, another model of this app's own; read now if that was not done before."""

        def taking(take: Callable[[float], None]) -> Pretrained:
            take(loaded.nbytes)
            return read(loaded)

        return self._models.make(key, taking)


def _loose(pretrained: Pretrained) -> Pretrained:
    """These heads without the model that they were read for: a tied decoder is left its bias alone."""
    model, decoder = pretrained.encoder.model, pretrained.decoder
    if decoder.weight is model.get_input_embeddings().weight:
        decoder = _decoder(nn.Parameter(decoder.weight.to("meta"), requires_grad=False), decoder.bias)
    return replace(pretrained, encoder=replace(pretrained.encoder, model=None), decoder=decoder)


def _tied(heads: Pretrained, loaded: LoadedModel) -> Pretrained:
    """Such heads on their model, whose word embeddings are the decoder's matrix; heads with an encoder as they are."""
    if heads.encoder.model is not None:
        return heads
    decoder = heads.decoder
    if decoder.weight.is_meta:
        decoder = _decoder(loaded.model.get_input_embeddings().weight, decoder.bias)
    return replace(heads, encoder=loaded, decoder=decoder)


def _decoder(weight: nn.Parameter, bias: nn.Parameter) -> nn.Linear:
    outer, inner = weight.shape
    decoder = nn.Linear(inner, outer, device="meta").eval()  # shapes without numbers, until it is given these
    decoder.weight, decoder.bias = weight, bias
    return decoder


def _nbytes(heads: Pretrained) -> int:
    parts = (heads.encoder.model, heads.transform, heads.decoder, heads.pooler, heads.relation)
    return nbytes_of(*(part for part in parts if part is not None))

"""Several inputs as one batch: padded to the longest, with the attention mask that separates padding from text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from demos.bert.model.encoding import Encoding
from demos.bert.model.models import LoadedModel


@dataclass(frozen=True)
class Batch:
    """b inputs of n tokens each, as transformers' `tokenizer(texts, padding=True)` gives them."""

    tokens: tuple[tuple[str, ...], ...]  # [b, n]
    input_ids: tuple[tuple[int, ...], ...]  # [b, n]
    token_type_ids: tuple[tuple[int, ...], ...]  # [b, n]
    attention_mask: tuple[tuple[int, ...], ...]  # [b, n]: 1 for text, 0 for padding
    word_index: tuple[tuple[int | None, ...], ...]  # [b, n]: what a word's hue is picked by

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.tokens), len(self.tokens[0]) if self.tokens else 0

    @property
    def padding(self) -> int:
        """The number of the batch's cells that are padding."""
        return sum(row.count(0) for row in self.attention_mask)


def model_inputs(loaded: LoadedModel, encodings: Sequence[Encoding], more: int = 0) -> dict[str, torch.Tensor]:
    """`pad`'s batch as the model takes it: input_ids and attention_mask, and token_type_ids where it has segments.

    DistilBERT has no segment embeddings. Each <int64>[b, n].
    """
    batch = pad(loaded.tokenizer, encodings, more)
    names = ("input_ids", "attention_mask", *(("token_type_ids",) if loaded.spec.segments else ()))
    return {name: torch.tensor(getattr(batch, name)) for name in names}


def pad(tokenizer: Any, encodings: Sequence[Encoding], more: int = 0) -> Batch:
    """Fill every input up to the longest, and `more` beyond, with the tokenizer's `[PAD]`: masked, segment 0."""
    longest = max((len(encoding) for encoding in encodings), default=0) + more
    gaps = [longest - len(encoding) for encoding in encodings]
    rows = list(zip(encodings, gaps, strict=True))
    return Batch(
        tokens=tuple(encoding.tokens + (tokenizer.pad_token,) * gap for encoding, gap in rows),
        input_ids=tuple(encoding.input_ids + (tokenizer.pad_token_id,) * gap for encoding, gap in rows),
        token_type_ids=tuple(encoding.token_type_ids + (tokenizer.pad_token_type_id,) * gap for encoding, gap in rows),
        attention_mask=tuple((1,) * len(encoding) + (0,) * gap for encoding, gap in rows),
        word_index=tuple(encoding.word_index + (None,) * gap for encoding, gap in rows),
    )

"""The attention weights of an encoder, a decoder or both, as transformers' own classes compute them."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.attention.matrix_labels import Labels
from demos.bert.causal.decoder import causal_mask
from demos.bert.causal.writing import beginning
from demos.bert.family.labels import labels_of
from demos.bert.family.members import Member
from demos.bert.model.local_layers import Reaches, reaches
from demos.bert.pretraining.heads import Pretrained
from demos.bert.translation.bundled import bundled, read_sentence
from demos.bert.translation.decoding import translate
from demos.bert.translation.gru import BEGIN, END, SPECIAL
from demos.bert.translation.transformer_places import CROSS, DECODER, ENCODER
from demos.bert.translation.translators import TRANSFORMER
from demos.bert.translation.vocabulary import padded
from demos.errors import UserError

MOST_TOKENS = 40  # of a side: more lines than these can't be followed
MOST_CHARACTERS = 300  # of a text
_TARGETS = threading.Lock()  # a Marian tokenizer is switched to its target language and back


@dataclass(frozen=True)
class Attention:
    """One kind of attention in all layers: `rows` are the queries, `columns` the keys: the same in self-attention."""

    kind: str  # ENCODER, DECODER or CROSS
    weights: np.ndarray  # <float32>[L, A, m, n]; each row sums to 1
    rows: Labels  # m
    columns: Labels  # n
    reaches: Reaches = ()  # of a ModernBERT's layers (demos/bert/model/local_layers.py)

    @property
    def later(self) -> float:
        """The share of all weight that lies right of the diagonal: on tokens after the query's (m = n)."""
        return float(np.triu(self.weights, 1).sum() / self.weights.sum())

    def most_read(self, layer: int) -> list[tuple[int, float]]:
        """For each row the column with the largest weight, the mean of the layer's heads, and that weight."""
        means = self.weights[layer].mean(0)  # [m, n]
        best = means.argmax(1)
        return [(int(column), float(means[row, column])) for row, column in enumerate(best)]


@dataclass(frozen=True)
class Reading:
    """The attention of one model for one text, or for a text and its target."""

    kinds: Mapping[str, Attention]  # by kind, in the order of computation
    writes: tuple[str, ...] = ()  # the target of each of the decoder's rows; the end comes last. Only with CROSS
    chosen: bool = False  # the model wrote the target itself, the likeliest token each time

    @property
    def nbytes(self) -> int:
        """Bytes of all weights."""
        return sum(attention.weights.nbytes for attention in self.kinds.values())


@torch.inference_mode()
def of_one_stack(member: Member, model: Any, tokenizer: Any, text: str) -> Reading:
    """An encoder's or a decoder's attention. Raises UserError for a text that is empty or too long."""
    inputs = tokenizer(checked(text), return_tensors="pt")
    ids = _bounded(inputs["input_ids"][0].tolist(), "The text")
    weights = model(**inputs, output_attentions=True).attentions
    return _alone(member.stack, weights, labels_of(tokenizer, ids), reaches(model.config))


@torch.inference_mode()
def of_both_stacks(member: Member, model: Any, tokenizer: Any, text: str, target: str = "") -> Reading:
    """An encoder-decoder's three kinds of attention; with no `target`, the model writes it.

    Raises UserError for a text that is empty, or a text or target that is too long.
    """
    with _TARGETS:
        source = tokenizer(member.prefix + checked(text), return_tensors="pt")
        typed = tokenizer(text_target=checked(target))["input_ids"] if target.strip() else None
    _bounded(source["input_ids"][0].tolist(), "The text")
    start, end = model.config.decoder_start_token_id, model.config.eos_token_id
    if typed is None:
        generated = model.generate(**source, max_new_tokens=MOST_TOKENS, num_beams=1, do_sample=False)
        written = generated[0, 1:].tolist()
    else:
        written = typed if typed and typed[-1] == end else [*typed, end]
    decoder_input = _bounded([start, *written[:-1]], "The target text")
    outputs = model(
        **source,
        decoder_input_ids=torch.tensor([decoder_input]),
        output_attentions=True,
        use_cache=False,
        return_dict=True,
    )
    rows, columns = labels_of(tokenizer, decoder_input), labels_of(tokenizer, source["input_ids"][0].tolist())
    weights = (outputs.encoder_attentions, outputs.decoder_attentions, outputs.cross_attentions)
    return _three(weights, rows, columns, labels_of(tokenizer, written).names, typed is None)


@torch.inference_mode()
def of_our_decoder(decoder: Pretrained, text: str) -> Reading:
    """The bundled decoder's attention, under its causal mask. Raises UserError as `of_one_stack`."""
    ids = _bounded(list(beginning(decoder, checked(text))), "The text")
    outputs = decoder.encoder.model(
        input_ids=torch.tensor([ids]), attention_mask=causal_mask(len(ids)), output_attentions=True
    )
    return _alone(DECODER, outputs.attentions, labels_of(decoder.tokenizer, ids))


@torch.inference_mode()
def of_our_translator(text: str, target: str = "") -> Reading:
    """The bundled Transformer's three kinds of attention; with no `target`, it translates.

    Raises UserError for a text or target that is too long or has a word that it was not trained on.
    """
    trained = bundled(TRANSFORMER)
    source = read_sentence(checked(text))
    written = _french(target) if target.strip() else translate(trained, [source])[0]
    encoded: Any = trained.model.read(padded([source], trained.source))
    decoder_input = [BEGIN, *(trained.target.ids[word] for word in written)]
    computed: Any = trained.model.write(encoded, torch.tensor([decoder_input]))
    weights = (
        [layer.attention.weights for layer in encoded.layers],
        [layer.attention.weights for layer in computed.layers],
        [layer.cross.weights for layer in computed.layers],
    )
    rows, columns = _words((SPECIAL[BEGIN], *written)), _words(source)
    last = END if target.strip() else int(computed.logits[0, -1].argmax())
    return _three(weights, rows, columns, (*written, trained.target.words[last]), not target.strip())


def checked(text: str) -> str:
    """The text. Raises UserError where it is empty or too long to be read at all."""
    if not text.strip():
        raise UserError("Type a text.")
    if len(text) > MOST_CHARACTERS:
        raise UserError(f"A text may have at most {MOST_CHARACTERS} characters here.")
    return text


def _french(target: str) -> tuple[str, ...]:
    """The words of a typed French sentence, a full stop at its end."""
    words = checked(target).lower().replace("’", "'").replace("'", "' ").replace(".", " ").split()
    known = bundled(TRANSFORMER).target.ids
    if unknown := [word for word in words if word not in known]:
        raise UserError(f"The word “{unknown[0][:40]}” is not among the French words that the translator knows.")
    return tuple(_bounded([*words, "."], "The target text"))


def _bounded(tokens: list[Any], what: str) -> list[Any]:
    if len(tokens) > MOST_TOKENS:
        raise UserError(f"{what} has {len(tokens)} tokens; at most {MOST_TOKENS} can be shown.")
    return tokens


def _words(words: Sequence[str]) -> Labels:
    """Whole words as labels; the beginning of the decoder's input is special."""
    return Labels(tuple(words), tuple(word in SPECIAL for word in words), words=tuple(range(len(words))))


def _stacked(layers: Sequence[torch.Tensor]) -> np.ndarray:
    """L times [1, A, m, n] -> [L, A, m, n]."""
    return torch.cat(list(layers)).float().numpy()


def _alone(kind: str, layers: Sequence[torch.Tensor], labels: Labels, of_layers: Reaches = ()) -> Reading:
    return Reading({kind: Attention(kind, _stacked(layers), labels, labels, of_layers)})


def _three(
    layers: Sequence[Sequence[torch.Tensor]], rows: Labels, columns: Labels, writes: tuple[str, ...], chosen: bool
) -> Reading:
    """From what the encoder, the decoder and the cross-attention say."""
    sides = ((columns, columns), (rows, rows), (rows, columns))
    kinds = zip((ENCODER, DECODER, CROSS), layers, sides, strict=True)
    return Reading({kind: Attention(kind, _stacked(weights), *side) for kind, weights, side in kinds}, writes, chosen)

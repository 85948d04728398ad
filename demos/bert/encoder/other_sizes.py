"""The sizes of other Transformers, counted from their configurations."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """One model. Layers, width and heads as for BERT; `layers` names those of an encoder and those of a decoder."""

    name: str
    year: int
    layers: str
    width: int
    heads: int
    parameters: int
    source: str  # of the configuration


def _stack(layers: int, d: int, f: int) -> int:
    """BERT's layers: four matrices of attention, two of feed-forward, all with biases, and two norms."""
    return layers * (4 * (d * d + d) + 2 * d * f + f + d + 4 * d)


def _transformer(d: int, f: int) -> int:
    """Six layers of an encoder, six of a decoder, which attend twice and have three norms; one table of word pieces.

    The paper says "about 37000 tokens", and has sines and cosines for positions.
    """
    encoder, second = _stack(6, d, f), 6 * (4 * (d * d + d) + 2 * d)
    return 37_000 * d + 2 * encoder + second


def _encoder(layers: int, d: int, vocabulary: int, positions: int, segments: int, *, pooler: bool) -> int:
    """BERT's own count, with f = 4d."""
    return (vocabulary + positions + segments) * d + 2 * d + _stack(layers, d, 4 * d) + pooler * (d * d + d)


def _gpt2(layers: int, d: int, positions: int) -> int:
    """A norm after the stack in place of that of the input, so it adds up as an encoder does."""
    return _encoder(layers, d, 50_257, positions, 0, pooler=False)


def _albert(d: int, f: int) -> int:
    """Embeddings 128 wide, a matrix from there to d, and one layer whose weights serve all layers; with the pooler."""
    vocabulary, e = 30_000, 128
    return (vocabulary + 512 + 2) * e + 2 * e + e * d + d + _stack(1, d, f) + d * d + d


def _t5(layers: int, d: int, f: int, heads: int, head: int) -> int:
    """No biases, norms of d numbers, one table of words, and 32 learned distances a head in encoder and decoder."""
    attention, feed_forward = 4 * d * heads * head + d, 2 * d * f + d
    encoder, decoder = layers * (attention + feed_forward), layers * (2 * attention + feed_forward)
    return 32_128 * d + encoder + decoder + 2 * (32 * heads + d)


VASWANI = "Vaswani et al. 2017, table 3, with 37,000 tokens; the paper says {} million"
RADFORD = "Radford et al. 2018, section 4.1"
FILES, SANH, LIU = "its released files", "Sanh et al. 2019, section 3", "Liu et al. 2019, section 2"
LAN, RAFFEL, BROWN = "Lan et al. 2020, table 1", "Raffel et al. 2020, section 3", "Brown et al. 2020, table 2.1"
OTHERS = (
    Known("Transformer, base", 2017, "6 + 6", 512, 8, _transformer(512, 2048), VASWANI.format(65)),
    Known("Transformer, big", 2017, "6 + 6", 1024, 16, _transformer(1024, 4096), VASWANI.format(213)),
    Known("GPT", 2018, "12", 768, 12, (40_478 + 512) * 768 + _stack(12, 768, 3072), RADFORD),
    Known("GPT-2, smallest", 2019, "12", 768, 12, _gpt2(12, 768, 1024), FILES),
    Known("GPT-2, largest", 2019, "48", 1600, 25, _gpt2(48, 1600, 1024), FILES),
    Known("RoBERTa base", 2019, "12", 768, 12, _encoder(12, 768, 50_265, 514, 1, pooler=True), LIU),
    Known("RoBERTa large", 2019, "24", 1024, 16, _encoder(24, 1024, 50_265, 514, 1, pooler=True), LIU),
    Known("DistilBERT", 2019, "6", 768, 12, _encoder(6, 768, 30_522, 512, 0, pooler=False), SANH),
    Known("ALBERT base", 2020, "12", 768, 12, _albert(768, 3072), LAN),
    Known("ALBERT xxlarge", 2020, "12", 4096, 64, _albert(4096, 16_384), LAN),
    Known("T5 base", 2020, "12 + 12", 768, 12, _t5(12, 768, 3072, 12, 64), RAFFEL),
    Known("T5, largest", 2020, "24 + 24", 1024, 128, _t5(24, 1024, 65_536, 128, 128), RAFFEL),
    Known("GPT-3", 2020, "96", 12_288, 96, _gpt2(96, 12_288, 2048), BROWN),
)

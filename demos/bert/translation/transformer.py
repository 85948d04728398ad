"""The Transformer of Vaswani et al. 2017, both stacks, as a translator of the same sentences as the GRUs.

Row vectors; b sentences, n source and m target words, A heads, d numbers a state, d_k = d / A. As in the paper, each
sublayer's output is added to its input and the sum is normalized (section 3.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from demos.bert.encoder.position import sinusoidal
from demos.bert.translation.gru import PADDING

LAYERS, HEADS, WIDTH, INNER = 2, 4, 96, 192  # of each stack; INNER: the feed-forward network's hidden layer
LONGEST = 64  # words for which there are positions


@dataclass(frozen=True)
class Attended:
    """One attention sublayer, in the order of its steps."""

    queries: Tensor  # [b, A, m, d_k]
    keys: Tensor  # [b, A, n, d_k]
    values: Tensor  # [b, A, n, d_k]
    scores: Tensor  # [b, A, m, n]: q . k / sqrt(d_k), -inf where a query may not look
    weights: Tensor  # [b, A, m, n], softmax of the scores
    sums: Tensor  # [b, A, m, d_k]: the weighted sums of the values
    output: Tensor  # [b, m, d]: all heads side by side, through one more linear map


@dataclass(frozen=True)
class Embedded:
    """The input of a stack."""

    words: Tensor  # [b, n, d]: rows of the table, times sqrt(d)
    positions: Tensor  # [n, d]
    output: Tensor  # [b, n, d], their sum


@dataclass(frozen=True)
class Added:
    """One "Add & Norm", in the order of its steps."""

    rows: Tensor  # [b, n, d], what the sublayer was given
    sublayer: Tensor  # [b, n, d], what it answered
    total: Tensor  # [b, n, d], their sum
    mean: Tensor  # [b, n, 1], over the d numbers of a row of the sum
    scale: Tensor  # [b, n, 1], 1 / sqrt(variance + eps)
    gain: Tensor  # [d], learned
    offset: Tensor  # [d], learned
    output: Tensor  # [b, n, d]: normalized * gain + offset

    @property
    def normalized(self) -> Tensor:
        """[b, n, d], of mean 0 and variance 1."""
        return (self.total - self.mean) * self.scale


@dataclass(frozen=True)
class Fed:
    """One feed-forward network."""

    rows: Tensor  # [b, n, d]
    before: Tensor  # [b, n, inner], of the first linear map
    hidden: Tensor  # [b, n, inner]: the same after ReLU
    output: Tensor  # [b, n, d]


@dataclass(frozen=True)
class EncoderTrace:
    """One encoder layer."""

    attention: Attended
    attention_added: Added
    fed: Fed
    fed_added: Added

    @property
    def output(self) -> Tensor:
        """[b, n, d]."""
        return self.fed_added.output


@dataclass(frozen=True)
class DecoderTrace:
    """One decoder layer."""

    attention: Attended  # of the words written so far
    attention_added: Added  # its output is what the queries of `cross` are made of
    cross: Attended  # of the source words: keys and values from the top of the encoder
    cross_added: Added
    fed: Fed
    fed_added: Added

    @property
    def output(self) -> Tensor:
        """[b, m, d]."""
        return self.fed_added.output


@dataclass(frozen=True)
class Encoded:
    """The output of the encoder, and the steps to it."""

    embedded: Embedded
    layers: tuple[EncoderTrace, ...]
    absent: Tensor  # [b, n], True where there is no word

    @property
    def states(self) -> Tensor:
        """[b, n, d]: the top layer's output."""
        return self.layers[-1].output


@dataclass(frozen=True)
class Written:
    """The decoder's steps."""

    embedded: Embedded
    layers: tuple[DecoderTrace, ...]
    logits: Tensor  # [b, m, target words]
    state: tuple[Tensor, ...]  # each layer's inputs so far, [b, all words, d]: for the next call

    @property
    def weights(self) -> Tensor:
        """[b, m, n]: the top layer's weights on the source words, the mean of its heads."""
        return self.layers[-1].cross.weights.mean(1)


class Attention(nn.Module):
    """Multi-head attention (section 3.2): the queries are of one text, the keys and values of the same or another."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def forward(self, asking: Tensor, answering: Tensor, hidden: Tensor) -> Attended:
        """`asking` [b, m, d], `answering` [b, n, d]; `hidden`, True where a query may not look, fits [b, A, m, n]."""
        queries = self._split(self.query(asking))
        keys, values = self._split(self.key(answering)), self._split(self.value(answering))
        scores = queries @ keys.transpose(-1, -2) / queries.shape[-1] ** 0.5
        scores = scores.masked_fill(hidden, -torch.inf)
        weights = scores.softmax(-1)
        sums = weights @ values
        return Attended(queries, keys, values, scores, weights, sums, self.output(sums.transpose(1, 2).flatten(2)))

    def _split(self, rows: Tensor) -> Tensor:
        """[b, n, d] -> [b, A, n, d_k]."""
        return rows.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class FeedForward(nn.Sequential):
    """Two linear maps with a ReLU between them, the same at each place (section 3.3)."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))

    def forward(self, rows: Tensor) -> Fed:
        """`rows` [b, n, d]."""
        first, relu, second = self
        before = first(rows)
        hidden = relu(before)
        return Fed(rows, before, hidden, second(hidden))


class AddNorm(nn.LayerNorm):
    """A sublayer's output is added to its input, and the sum is normalized (section 3.1; Ba et al. 2016)."""

    def forward(self, rows: Tensor, sublayer: Tensor) -> Added:
        """Both [b, n, d]. The result of nn.LayerNorm, with the mean and the scale on the way."""
        total = rows + sublayer
        output, mean, scale = torch.native_layer_norm(total, self.normalized_shape, self.weight, self.bias, self.eps)
        return Added(rows, sublayer, total, mean, scale, self.weight, self.bias, output)


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.attention, self.attention_norm = Attention(width, heads), AddNorm(width)
        self.feed_forward, self.feed_forward_norm = FeedForward(width, inner), AddNorm(width)

    def forward(self, rows: Tensor, hidden: Tensor) -> EncoderTrace:
        """`rows` [b, n, d]; `hidden` fits [b, A, n, n]."""
        attention = self.attention(rows, rows, hidden)
        attention_added = self.attention_norm(rows, attention.output)
        fed = self.feed_forward(attention_added.output)
        return EncoderTrace(attention, attention_added, fed, self.feed_forward_norm(fed.rows, fed.output))


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention and a feed-forward network."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.attention, self.attention_norm = Attention(width, heads), AddNorm(width)
        self.cross, self.cross_norm = Attention(width, heads), AddNorm(width)
        self.feed_forward, self.feed_forward_norm = FeedForward(width, inner), AddNorm(width)

    def forward(self, rows: Tensor, all_rows: Tensor, later: Tensor, encoded: Encoded) -> DecoderTrace:
        """`rows` [b, m, d] are the last of `all_rows`; `later` [m, all] hides what comes after a word."""
        attention = self.attention(rows, all_rows, later)
        attention_added = self.attention_norm(rows, attention.output)
        cross = self.cross(attention_added.output, encoded.states, encoded.absent[:, None, None])
        cross_added = self.cross_norm(attention_added.output, cross.output)
        fed = self.feed_forward(cross_added.output)
        fed_added = self.feed_forward_norm(fed.rows, fed.output)
        return DecoderTrace(attention, attention_added, cross, cross_added, fed, fed_added)


class Transformer(nn.Module):
    """An encoder stack that reads, and a decoder stack that writes."""

    score = "transformer"  # its name among the translators
    positions: Tensor

    def __init__(
        self,
        source_words: int,
        target_words: int,
        layers: int = LAYERS,
        heads: int = HEADS,
        width: int = WIDTH,
        inner: int = INNER,
    ) -> None:
        super().__init__()
        self.source = nn.Embedding(source_words, width, padding_idx=PADDING)
        self.target = nn.Embedding(target_words, width, padding_idx=PADDING)
        for table in (self.source, self.target):
            nn.init.normal_(table.weight, std=width**-0.5)
            nn.init.zeros_(table.weight[PADDING])
        self.encoder = nn.ModuleList(EncoderLayer(width, heads, inner) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderLayer(width, heads, inner) for _ in range(layers))
        self.output = nn.Linear(width, target_words)
        codes = torch.from_numpy(sinusoidal(LONGEST, width)).float()
        self.register_buffer("positions", codes, persistent=False)

    def read(self, source: Tensor) -> Encoded:
        """`source` [b, n], ids; PADDING behind a sentence's end. All places at once."""
        absent = source == PADDING
        embedded = self._embed(self.source, source)
        rows = embedded.output
        layers: list[EncoderTrace] = []
        for layer in self.encoder:
            layers.append(layer(rows, absent[:, None, None]))
            rows = layers[-1].output
        return Encoded(embedded, tuple(layers), absent)

    def write(self, encoded: Encoded, words: Tensor, state: Sequence[Tensor] | None = None) -> Written:
        """The decoder's steps for the words that it is given, [b, m]: at each one, the logits of the next.

        `state` goes on from an earlier call: then only the new words are computed (a cache, as decoders in use have).
        """
        before = state[0].shape[1] if state else 0
        embedded = self._embed(self.target, words, before)
        rows = embedded.output
        m = words.shape[1]
        later = torch.ones(m, before + m, dtype=torch.bool, device=words.device).triu(before + 1)
        layers: list[DecoderTrace] = []
        inputs: list[Tensor] = []
        for place, layer in enumerate(self.decoder):
            inputs.append(torch.cat([state[place], rows], 1) if state else rows)
            layers.append(layer(rows, inputs[-1], later, encoded))
            rows = layers[-1].output
        return Written(embedded, tuple(layers), self.output(rows), tuple(inputs))

    def forward(self, source: Tensor, words: Tensor) -> Tensor:
        """Logits of the next word at each place, [b, m, target words]."""
        return self.write(self.read(source), words).logits

    def _embed(self, table: nn.Embedding, words: Tensor, before: int = 0) -> Embedded:
        """Embeddings times sqrt(d), plus the codes of their positions (sections 3.4 and 3.5)."""
        rows = table(words) * table.embedding_dim**0.5
        positions = self.positions[before : before + words.shape[1]]
        return Embedded(rows, positions, rows + positions)

"""The size of a BERT: its parameters counted from the configuration, and the memory and arithmetic that they need."""

from dataclasses import dataclass
from typing import Any

from demos.errors import UserError

BYTES = 4  # of a float32
TRAINING_BYTES = 4 * BYTES  # a weight, its gradient, and AdamW's two moments


@dataclass(frozen=True)
class Shape:
    """A BERT's configuration: L, d and A. Devlin et al. 2019, section 3, write H for d."""

    name: str
    layers: int  # L
    width: int  # d, the hidden size
    heads: int  # A
    vocabulary: int = 30_522  # V
    positions: int = 512  # P
    segments: int = 2  # S; 0 for DistilBERT
    inner: int = 0  # of the feed-forward; 0 means four times the width
    pooler: bool = True

    @property
    def feed_forward(self) -> int:
        """The feed-forward's inner width."""
        return self.inner or 4 * self.width

    def check(self) -> None:
        """Raises UserError where no such BERT can be built."""
        if self.width % self.heads:
            raise UserError(
                f"{self.heads} heads can't share a width of {self.width}: the width must be divisible by the number "
                "of heads."
            )


# Google's sizes: Turc et al. 2019, "Well-Read Students Learn Better", table 1, for the first four; the last two are
# those of Devlin et al. 2019, section 3.
KNOWN = (
    Shape("BERT tiny", 2, 128, 2),
    Shape("BERT mini", 4, 256, 4),
    Shape("BERT small", 4, 512, 8),
    Shape("BERT medium", 8, 512, 8),
    Shape("BERT base", 12, 768, 12),
    Shape("BERT large", 24, 1024, 16),
)


@dataclass(frozen=True)
class Count:
    """One part's parameters: `each` numbers, `times` over in the whole model; `formula` gives `each` in letters."""

    group: str  # Embeddings, Attention, Feed-forward or Pooler
    name: str  # may hold <sub>
    formula: str
    each: int
    times: int = 1

    @property
    def total(self) -> int:
        return self.each * self.times


def shape_of(name: str, model: Any) -> Shape:
    """The shape of a loaded BertModel or DistilBertModel, read from its configuration."""
    config = model.config
    return Shape(
        name,
        layers=config.num_hidden_layers,
        width=config.hidden_size,
        heads=config.num_attention_heads,
        vocabulary=config.vocab_size,
        positions=config.max_position_embeddings,
        segments=getattr(config, "type_vocab_size", 0),
        inner=getattr(config, "intermediate_size", None) or config.hidden_dim,
        pooler=getattr(model, "pooler", None) is not None,
    )


def count_parameters(shape: Shape) -> list[Count]:
    """Every weight and bias of the encoder, part by part; their totals add up to the model's.

    A head's slice of W_Q, W_K and W_V is d x (d / A), so A heads together are d x d: the number of heads costs nothing.
    """
    d, f, layers = shape.width, shape.feed_forward, shape.layers
    counts = [
        Count("Embeddings", "word pieces", "V·d", shape.vocabulary * d),
        Count("Embeddings", "positions", "P·d", shape.positions * d),
        Count("Embeddings", "segments", "S·d", shape.segments * d),
        Count("Embeddings", "LayerNorm", "2d", 2 * d),
        *(Count("Attention", f"W<sub>{letter}</sub>, b", "d·d + d", d * d + d, layers) for letter in "QKVO"),
        Count("Attention", "LayerNorm", "2d", 2 * d, layers),
        Count("Feed-forward", "W<sub>1</sub>, b", "d·f + f", d * f + f, layers),
        Count("Feed-forward", "W<sub>2</sub>, b", "f·d + d", f * d + d, layers),
        Count("Feed-forward", "LayerNorm", "2d", 2 * d, layers),
        Count("Pooler", "W, b", "d·d + d", (d * d + d) * shape.pooler),
    ]
    return [count for count in counts if count.each]


def total_parameters(shape: Shape) -> int:
    """All of them: 109,482,240 for BERT base with its pooler, 335,141,888 for BERT large."""
    return sum(count.total for count in count_parameters(shape))


def pretraining_heads(shape: Shape) -> int:
    """The parameters that the two heads of pre-training add: the MLM head's d·d + d, LayerNorm and V biases (its large
    matrix is the word embedding, used twice), and the NSP head's 2d + 2.
    """
    d = shape.width
    return (d * d + d) + 2 * d + shape.vocabulary + (2 * d + 2)


@dataclass(frozen=True)
class Work:
    """Multiplications and additions of one forward pass, per token, in an input of n tokens (each counts as one)."""

    projections: int  # W_Q, W_K, W_V, W_O: 8 d^2 a layer
    attention: int  # q.k for every key, and the weighted sum of the values: 4 n d a layer
    feed_forward: int  # 4 d f a layer

    @property
    def total(self) -> int:
        return self.projections + self.attention + self.feed_forward


def work_per_token(shape: Shape, tokens: int) -> Work:
    """A product of [a, b] with [b, c] is 2abc operations; biases, norms and softmax are left out, as is usual."""
    d, layers = shape.width, shape.layers
    return Work(layers * 8 * d * d, layers * 4 * tokens * d, layers * 4 * d * shape.feed_forward)


@dataclass(frozen=True)
class Memory:
    """Bytes in float32."""

    weights: int
    training: int  # weights, gradients and AdamW's two moments; activations come on top
    attention: int  # every head's weights of one input: L·A·n·n numbers


def memory(shape: Shape, tokens: int) -> Memory:
    """The memory of the weights, and that of the attention for one input of n tokens."""
    parameters = total_parameters(shape)
    return Memory(BYTES * parameters, TRAINING_BYTES * parameters, BYTES * shape.layers * shape.heads * tokens**2)

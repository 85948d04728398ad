"""BERT's own pre-training in numbers (Devlin et al. 2019, section 3.1 and A.2), and what it would take here."""

from __future__ import annotations

from dataclasses import dataclass

from demos.bert.encoder.size import KNOWN, Shape, work_per_token

WORDS = {"BooksCorpus": 800_000_000, "the English Wikipedia": 2_500_000_000}
STEPS, SEQUENCES, LONGEST = 1_000_000, 256, 512
LENGTHS = ((128, 0.9), (LONGEST, 0.1))  # tokens of a sequence, and the share of the steps that had it
SECONDS = 4 * 24 * 3600
TPUS = {"BERT base": 4, "BERT large": 16}  # "Cloud TPUs", of four chips each
PASSES = 3  # the gradient takes twice as many operations as the forward pass
MNLI, EPOCHS, PADDED = 392_702, 3, 128  # pairs of GLUE's largest data set; as long as the paper's program makes them


@dataclass(frozen=True)
class Cost:
    """One model's pre-training."""

    shape: Shape
    tpus: int
    operations: float  # of all steps; the encoder's alone
    tokens_per_second: float  # by all TPUs together

    @property
    def fine_tuning_seconds(self) -> float:
        """The seconds of MNLI on one of the TPUs, at the same rate."""
        return fine_tuned_tokens() / (self.tokens_per_second / self.tpus)


def tokens_read() -> int:
    """By all steps together; padding counted."""
    return round(sum(STEPS * share * SEQUENCES * length for length, share in LENGTHS))


def fine_tuned_tokens() -> int:
    """Read in a fine-tuning on MNLI; padding counted."""
    return MNLI * EPOCHS * PADDED


def costs() -> list[Cost]:
    """Those of BERT base and BERT large."""
    shapes = [shape for shape in KNOWN if shape.name in TPUS]
    return [Cost(shape, TPUS[shape.name], operations(shape), tokens_read() / SECONDS) for shape in shapes]


def operations(shape: Shape) -> float:
    """Multiplications and additions of the whole pre-training of an encoder."""
    return sum(_operations(shape, STEPS * share * SEQUENCES * length, length) for length, share in LENGTHS)


def fine_tuning_operations(shape: Shape) -> float:
    """The same of a fine-tuning on MNLI."""
    return _operations(shape, fine_tuned_tokens(), PADDED)


def _operations(shape: Shape, tokens: float, length: int) -> float:
    """Those of reading so many tokens, forward and backward, in sequences of this length."""
    return PASSES * tokens * work_per_token(shape, length).total


def seconds_here(operations: float, trained: Shape, tokens: int, seconds: float) -> float:
    """The time of so many operations, if a step of `trained` with so many tokens in all takes `seconds`.

    The step's sequences are short, so attention's own products are left out of its operations.
    """
    return operations / (_operations(trained, tokens, 0) / seconds)

"""BERT's own pre-training in numbers (Devlin et al. 2019, sections 3.1, 3.2 and A.2); beside it that of our heads."""

from dataclasses import dataclass

from demos.bert.encoder.size import KNOWN, Shape, work_per_token
from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.bert.pretraining.heads import OUR_HEADS
from demos.bert.pretraining.heads_file import read_about

WORDS = {"English Wikipedia": 2_500_000_000, "BooksCorpus": 800_000_000}
TOKENS_A_WORD = 1.3  # of English text, about
EPOCHS_IN_PAPER = 40  # "approximately", of the words: each token counted as one, each step as if of the LONGEST
STEPS, SEQUENCES, LONGEST = 1_000_000, 256, 512
LENGTHS = ((128, 0.9), (LONGEST, 0.1))  # tokens of a sequence, and the share of the steps that had it
SECONDS = 4 * 24 * 3600
TPUS = {"BERT base": 4, "BERT large": 16}  # "Cloud TPUs", of four chips each
PASSES = 3  # the gradient takes twice as many operations as the forward pass
MNLI, EPOCHS, PADDED = 392_702, 3, 128  # pairs of GLUE's largest data set; as long as the paper's program makes them


@dataclass(frozen=True)
class OurRun:
    """The training of this app's own heads, as assets/pretraining/README.md describes it."""

    shape: Shape
    steps: int
    tokens: int  # read in all steps
    books: int = 636
    pairs: int = 15_000  # of sentences, of Wikipedia
    lengths: tuple[int, int] = (64, 128)  # tokens of a sequence, at first and later
    cores: int = 2  # of a CPU
    hours: int = 8  # "some"

    @property
    def words(self) -> float:
        """The words that these tokens amount to, about."""
        return self.tokens / TOKENS_A_WORD


def our_run() -> OurRun:
    """Its steps and tokens by the file of the heads itself."""
    about, spec = read_about(OUR_HEADS), CATALOGUE[BUNDLED]
    shape = Shape(spec.title.partition(" (")[0], spec.num_layers, spec.width, spec.num_heads)
    return OurRun(shape, int(about["steps"]), int(about["tokens"]))


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


def tokens_in_paper() -> int:
    """The same as the paper counts: the longest sequences in every step."""
    return STEPS * SEQUENCES * LONGEST


def passes() -> float:
    """Over all words: the tokens read, padding counted, for each token of the text."""
    return tokens_read() / (sum(WORDS.values()) * TOKENS_A_WORD)


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

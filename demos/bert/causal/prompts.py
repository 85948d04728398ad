"""Zero-, one- and few-shot prompts: a task in words, some solved examples, and the probability of the right answer.

The form is that of Brown et al. 2020, figure 2.1: nothing is trained, the examples are part of the text that the
model continues.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache

from demos.bert.causal.decoder import causal_mask, causal_states, states_after
from demos.bert.causal.writing import beginning
from demos.bert.pretraining.guesses import Guess, guess_at
from demos.bert.pretraining.heads import Pretrained

SHOTS = (0, 1, 3)  # examples in a prompt
BEST = 5
WRITTEN = 8  # tokens that a model goes on with


@dataclass(frozen=True)
class Task:
    """Questions of one kind with their answers; the examples of each are the ones after it, in a circle."""

    name: str
    instruction: str  # the beginning of a prompt
    form: str  # of a question about a word
    words: tuple[tuple[str, str], ...]  # each with its answer
    prefix: str = ""  # T5 was trained on this task with it: the word comes next, and no question
    joint: str = " is"  # between a question and its answer
    end: str = "."  # of a solved example
    between: str = " "  # the instruction, the examples and the question

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Each question with its answer."""
        return tuple((self.form.format(word), answer) for word, answer in self.words)

    def prompt(self, number: int, shots: int) -> str:
        """The prompt for question `number` with so many solved examples before it."""
        pairs = self.pairs
        examples = [pairs[(number + 1 + at) % len(pairs)] for at in range(shots)]
        solved = [f"{question}{self.joint} {answer}{self.end}" for question, answer in examples]
        return self.between.join([self.instruction, *solved, f"{pairs[number][0]}{self.joint}"])

    def prompts(self, number: int) -> list[str]:
        """With 0, 1 and 3 examples."""
        return [self.prompt(number, shots) for shots in SHOTS]

    def text_to_text(self, number: int) -> list[str]:
        """The prompt for T5: its own form if it has one (Raffel et al. 2020, appendix D), else the bare prompt."""
        return [self.prefix + self.words[number][0] if self.prefix else self.prompt(number, 0)]


def _words(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (pair.split(":") for pair in text.split())
    return tuple((word, answer) for word, answer in pairs)


TRANSLATE, FRENCH = "Translate English to French:", "translate English to French: "  # ours to a decoder; T5's prefix


TASKS = (
    Task(
        "Yes or no",
        "Say yes or no:",
        "is it good to be {}?",
        _words(
            "cruel:no kind:yes wicked:no honest:yes foolish:no brave:yes hateful:no gentle:yes savage:no wise:yes "
            "stupid:no noble:yes"
        ),
        joint="",
    ),
    Task(
        "Opposites",
        "Say the opposite:",
        "the opposite of {}",
        _words(
            "hot:cold big:small good:bad old:young rich:poor open:shut first:last light:dark up:down black:white "
            "life:death love:hate"
        ),
    ),
    Task(
        "GPT-3 paper",  # Brown et al. 2020, figure 2.1, word for word
        TRANSLATE,
        "{}",
        (
            ("cheese", "fromage"),
            ("sea otter", "loutre de mer"),
            ("peppermint", "menthe poivrée"),
            ("plush girafe", "girafe peluche"),
        ),
        prefix=FRENCH,
        joint=" =>",
        end="",
        between="\n",
    ),
    Task(
        "English to French",
        TRANSLATE,
        "{} in french",
        _words(
            "sir:monsieur king:roi good:bon love:amour house:maison god:dieu water:eau yes:oui lady:madame "
            "night:nuit war:guerre death:mort"
        ),
        prefix=FRENCH,
    ),
    Task(
        "Capitals",
        "Name the capital city:",
        "the capital of {}",
        _words(
            "france:paris england:london italy:rome spain:madrid russia:moscow greece:athens egypt:cairo "
            "scotland:edinburgh ireland:dublin austria:vienna portugal:lisbon germany:berlin"
        ),
    ),
)


@dataclass(frozen=True)
class Answered:
    """The result of a model on one prompt."""

    prompt: str
    answer: str
    rank: int  # of the answer's first word piece among all V, 1 for the likeliest
    probability: float  # of the whole answer: the product over its pieces
    best: tuple[Guess, ...]  # the most probable tokens


@torch.inference_mode()
def answered(decoder: Pretrained, prompt: str, answer: str) -> Answered:
    """The answer's rank and probability after the prompt."""
    start, pieces = beginning(decoder, prompt), beginning(decoder, answer)[1:]
    states = causal_states(decoder, torch.tensor([[*start, *pieces]]))[0, len(start) - 1 : -1]
    return scored(decoder.tokenizer, prompt, answer, pieces, decoder.word_logits(states))


def scored(tokenizer: Any, prompt: str, answer: str, pieces: Sequence[int], logits: torch.Tensor) -> Answered:
    """From the logits <float32>[pieces, V] at the places that predict the answer's pieces."""
    shares = logits.double().softmax(-1)
    first = logits[0]
    return Answered(
        prompt=prompt,
        answer=answer,
        rank=1 + int((first > first[pieces[0]]).sum()),
        probability=float(shares[range(len(pieces)), list(pieces)].prod()),
        best=tuple(guess_at(tokenizer, first, shares[0], at) for at in first.topk(BEST).indices.tolist()),
    )


@torch.inference_mode()
def continued(decoder: Pretrained, prompts: Sequence[str]) -> list[str]:
    """The decoder's continuation of each prompt, the likeliest word piece each time, WRITTEN in all.

    All are written at once, and no token is computed twice: its keys and values are kept. A prompt and what follows
    must fit into the decoder's window.
    """
    rows = [beginning(decoder, prompt) for prompt in prompts]
    lengths = torch.tensor([len(row) for row in rows])
    n = int(lengths.max())
    ids = torch.tensor([[*row, *[0] * (n - len(row))] for row in rows])
    places, before = torch.arange(n), DynamicCache()
    states = states_after(decoder, ids, places[None], causal_mask(n), before)[range(len(rows)), lengths - 1]
    padding = places >= lengths[:, None]
    mask = torch.zeros(len(rows), 1, 1, n).masked_fill(padding[:, None, None], torch.finfo(torch.float32).min)
    written = [decoder.word_logits(states).argmax(-1)]
    while len(written) < WRITTEN:
        mask = torch.nn.functional.pad(mask, (0, 1))
        positions = lengths + len(written) - 1
        states = states_after(decoder, written[-1][:, None], positions[:, None], mask, before)[:, 0]
        written.append(decoder.word_logits(states).argmax(-1))
    return [str(decoder.tokenizer.decode(row)) for row in torch.stack(written, 1).tolist()]

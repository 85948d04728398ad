"""Decoding of a translator: the likeliest word at each step (greedy), for many sentences or one step by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from demos.bert.translation.gru import BEGIN, END, PADDING, SPECIAL, Decoded
from demos.bert.translation.translators import AnyTranslator
from demos.bert.translation.vocabulary import Vocabulary, padded

LONGEST = 30  # words that are written
TOP = 4  # of the likeliest next words
SHOWN = 4  # numbers of a vector


@dataclass(frozen=True)
class Trained:
    """A translator and its two languages."""

    model: AnyTranslator
    source: Vocabulary
    target: Vocabulary


@torch.inference_mode()
def translate(trained: Trained, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Greedy translations, without the END; words of `sentences` must be in the vocabulary."""
    memory: Any = trained.model.read(padded(sentences, trained.source))
    words = torch.full((len(sentences), 1), BEGIN)
    state: Any = None
    written, ended = [], torch.zeros(len(sentences), dtype=torch.bool)
    for _ in range(LONGEST):
        decoded = trained.model.write(memory, words, state)
        words, state = decoded.logits[:, -1:].argmax(-1), decoded.state
        ended |= words[:, 0] == END
        written.append(words[:, 0].masked_fill(ended, PADDING))
        if ended.all():
            break
    rows = torch.stack(written, 1).tolist()
    return [tuple(trained.target.words[word] for word in row if word != PADDING) for row in rows]


@torch.inference_mode()
def steps(trained: Trained, sentence: Sequence[str]) -> tuple[tuple[str, ...], Any]:
    """(the words written, END included; all quantities of each step, b = 1) of a greedy translation.

    The quantities are a GRU's `Decoded` or a Transformer's `Written`; both have `weights` [b, m, n].
    """
    (written,) = translate(trained, [sentence])
    words = torch.tensor([[BEGIN, *(trained.target.ids[word] for word in written)]])
    memory: Any = trained.model.read(padded([sentence], trained.source))
    decoded = trained.model.write(memory, words)
    last = trained.target.words[int(decoded.logits[0, -1].argmax())]
    return (*written, last), decoded


def step_at(number: float, written: Sequence[str]) -> int:
    """Step `number`, from 1, as an index: beyond the end it is the last word that is not the sentence's end."""
    last = len(written) - 1
    if number > len(written) and written[last] == SPECIAL[END]:
        last -= 1
    return min(max(int(number) - 1, 0), max(last, 0))


@dataclass(frozen=True)
class DecoderStep:
    """The decoder's values for one word."""

    number: int  # from 1
    given: str  # the word that it wrote before
    word: str
    reads: tuple[tuple[str, float, float], ...]  # English word, score, weight; none without attention
    state: tuple[float, ...]  # the first numbers
    context: tuple[float, ...]
    combined: tuple[float, ...]
    width: int
    vocabulary: int  # French words that have a logit
    likeliest: tuple[tuple[str, float, float], ...]  # French word, logit, probability


def decoder_step(
    trained: Trained, source: Sequence[str], written: Sequence[str], decoded: Decoded, at: int
) -> DecoderStep:
    """Step number `at`, from 0, of a decoding of one sentence."""
    logits = decoded.logits[0, at]
    shares = logits.softmax(-1)
    top = shares.topk(TOP).indices.tolist()
    scores, weights = decoded.scores[0, at].tolist(), decoded.weights[0, at].tolist()
    return DecoderStep(
        number=at + 1,
        given=written[at - 1] if at else SPECIAL[BEGIN],
        word=written[at],
        reads=tuple(zip(source, scores, weights, strict=True)) if trained.model.score != "none" else (),
        state=tuple(decoded.states[0, at, :SHOWN].tolist()),
        context=tuple(decoded.context[0, at, :SHOWN].tolist()),
        combined=tuple(decoded.combined[0, at, :SHOWN].tolist()),
        width=decoded.states.shape[-1],
        vocabulary=len(trained.target),
        likeliest=tuple((trained.target.words[word], logits[word].item(), shares[word].item()) for word in top),
    )

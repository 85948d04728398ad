"""The probes before and after a training: masked words of the held-out sentences and of general English."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence

from demos.bert.pretraining.lens import distributions
from demos.training.pretraining.model_parts import Parts
from demos.training.pretraining.passage import MAX_LENGTH, Passage
from demos.training.tasks.task import token_ids

TOP = 3
MOST_PLACES = 24  # of one sentence whose every word is predicted; of a longer one they are spread evenly
ROWS = 24  # sequences in one pass
GENERAL = (  # about none of it; the masked word is given after the bar
    "She opened the door and walked into the room.|door",
    "He drank a cup of coffee and read the newspaper.|cup",
    "The train to the city was late again this morning.|train",
)
SHOWN = 2  # of them, beside the held-out ones


@dataclass(frozen=True)
class Question:
    """A sentence with one word masked."""

    input_ids: tuple[int, ...]  # [n], with [MASK]
    place: int
    answer: int  # the hidden word's id
    before: str  # the sentence up to the place, and what follows it
    after: str
    own: bool  # of the reader's text; else general English


@dataclass(frozen=True)
class Answer:
    """A model's predictions at the masked position."""

    top: tuple[tuple[str, float], ...]  # TOP tokens with their probabilities, the likeliest first
    probability: float  # of the hidden word
    rank: int  # of the hidden word; 1 is the likeliest


@dataclass(frozen=True)
class ProbeResult:
    """All probes at one time; mean losses in nats a token, each masked alone, NaN without a sentence."""

    answers: tuple[Answer, ...]
    own: float  # over the held-out sentences
    general: float  # over GENERAL


def questions(tokenizer: Any, passage: Passage) -> tuple[Question, ...]:
    """One of each held-out sentence (or of the first one trained on, where none is held out), then of GENERAL.

    Hidden is the rarest word that the sentences to train on have too, else the rarest: BERT's vocabulary has its
    whole words in the order of how frequent they are, about.
    """
    trained = {question for ids, _ in token_ids(tokenizer, passage.train, MAX_LENGTH) for question in ids}
    own = passage.held_out or passage.train[:1]
    probes = [_question(tokenizer, sentence, None, trained, own=True) for sentence in own]
    pairs = (question.split("|") for question in GENERAL[:SHOWN])
    probes += [_question(tokenizer, sentence, word, trained, own=False) for sentence, word in pairs]
    return tuple(question for question in probes if question is not None)


def _question(tokenizer: Any, sentence: str, word: str | None, trained: set[int], own: bool) -> Question | None:
    encoded = tokenizer(sentence, return_offsets_mapping=True, verbose=False)
    ids, offsets = encoded["input_ids"], encoded["offset_mapping"]
    tokens, of_word = tokenizer.convert_ids_to_tokens(ids), encoded.word_ids()
    places = [at for at in range(min(len(ids), MAX_LENGTH) - 1) if of_word[at] is not None]
    if len(ids) > MAX_LENGTH:
        ids = [*ids[: MAX_LENGTH - 1], ids[-1]]
    whole = [at for at in places if of_word.count(of_word[at]) == 1 and tokens[at].isalpha()]
    if word is not None:
        whole = [at for at in whole if tokens[at].lower() == word] or whole
    chosen = [at for at in whole if ids[at] in trained] if own else []
    choice = chosen or whole or places
    if not choice:
        return None
    place = max(choice, key=lambda at: ids[at])
    start, end = offsets[place]
    masked = [*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]
    return Question(tuple(masked), place, ids[place], sentence[:start], sentence[end:], own)


def ask(parts: Parts, tokenizer: Any, passage: Passage, probes: Sequence[Question]) -> ProbeResult:
    """The answers of the model in its present state."""
    general = [question.partition("|")[0] for question in GENERAL]
    return ProbeResult(
        tuple(_answer(parts, tokenizer, question) for question in probes),
        mean_loss(parts, tokenizer, passage.held_out),
        mean_loss(parts, tokenizer, general),
    )


def _answer(parts: Parts, tokenizer: Any, question: Question) -> Answer:
    ids = torch.tensor([question.input_ids])
    with torch.inference_mode():
        hidden = parts.states(ids, torch.ones_like(ids), torch.zeros_like(ids))[:, question.place].numpy()
    (guess,) = distributions(parts.word_logits, tokenizer, hidden, TOP, question.answer)
    return Answer(tuple((best.token, best.probability) for best in guess.best), guess.target.probability, guess.rank)


def mean_loss(parts: Parts, tokenizer: Any, sentences: Sequence[str]) -> float:
    """Mean of -ln p over the tokens of these sentences, each masked alone: at most MOST_PLACES of a sentence.

    This is the pseudo-log-likelihood of Salazar et al. 2020 (ACL), per token. NaN without a token.
    """
    rows = list(_rows(tokenizer, sentences))
    losses: list[float] = []
    for at in range(0, len(rows), ROWS):
        sequences, places, answers = zip(*rows[at : at + ROWS], strict=True)
        ids = pad_sequence(sequences, batch_first=True, padding_value=tokenizer.pad_token_id)
        mask = pad_sequence([torch.ones_like(row) for row in sequences], batch_first=True)
        with torch.inference_mode():
            hidden = parts.states(ids, mask, torch.zeros_like(ids))
            logits = parts.word_logits(hidden[range(len(places)), places])
            losses += torch.nn.functional.cross_entropy(logits, torch.tensor(answers), reduction="none").tolist()
    return sum(losses) / len(losses) if losses else float("nan")


def _rows(tokenizer: Any, sentences: Sequence[str]) -> Iterator[tuple[torch.Tensor, int, int]]:
    """Each sentence with one token masked, the place, and the token's id."""
    for ids, _ in token_ids(tokenizer, sentences, MAX_LENGTH):
        count = len(ids) - 2
        for number in range(min(count, MOST_PLACES)):
            place = 1 + number * count // min(count, MOST_PLACES)
            yield torch.tensor([*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]), place, ids[place]

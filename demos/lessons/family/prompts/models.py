"""The models that are given prompts: our decoder, GPT-2 and T5, each in its own form."""

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, NamedTuple

from demos.bert.causal.prompts import TASKS, Answered, Task, answered, continued
from demos.bert.family import prompted
from demos.bert.family.members import BOTH, MEMBERS, OUR_DECODER, Member
from demos.bert.model.once_cache import ObjectNumbers, OnceCache
from demos.page.services import Services

WRITERS = {key: MEMBERS[key] for key in (OUR_DECODER, "gpt2", "t5-small")}


KEPT = 240  # questions of all models: the answers to one are some 4 kB, its texts 1 kB

_models = ObjectNumbers()
_answers: OnceCache[None, list[Answered]] = OnceCache(KEPT)
_texts: OnceCache[None, list[str]] = OnceCache(KEPT)


class Prompted(NamedTuple):
    """A model that is given prompts."""

    model: Any
    answer: Callable[[str, str], Answered]  # the probability of an answer after a prompt
    go_on: Callable[[Sequence[str]], list[str]]  # its text after each prompt
    words: int  # of its vocabulary
    prompts: Callable[[Task, int], list[str]] = Task.prompts  # of a question


def model_of(services: Services, member: Member) -> Prompted:
    """The model of this member. Raises UserError if it can't be had."""
    if member.key == OUR_DECODER:
        decoder = services.decoder()
        own = partial(answered, decoder), partial(continued, decoder)
        return Prompted(decoder.encoder.model, *own, decoder.decoder.out_features)
    loaded = services.family.get(member.key)
    model, read, words = loaded.model, (loaded.model, loaded.tokenizer), loaded.model.config.vocab_size
    if member.stack == BOTH:
        write = partial(prompted.written_by_both, *read)
        answer, prompts = partial(prompted.answered_by_both, *read), Task.text_to_text
    else:
        write = partial(prompted.continued, *read)
        answer, prompts = partial(prompted.answered, *read), Task.prompts
    return Prompted(model, answer, lambda texts: [write(text) for text in texts], words, prompts)


def answers_to(model: Prompted, task: Task, at: int) -> list[Answered]:
    """The answers to question `at` after each of its prompts, computed once for all readers."""

    def answer_each() -> Generator[None, None, list[Answered]]:
        yield
        return [model.answer(prompt, task.pairs[at][1]) for prompt in model.prompts(task, at)]

    return _answers.get((_models.of(model.model), task, at), answer_each, None)


def answers(model: Prompted, task: Task) -> list[list[Answered]]:
    return [answers_to(model, task, at) for at in range(len(task.pairs))]


def texts(model: Prompted, task: Task, at: int) -> list[str]:
    """The model's text after each prompt of question `at`, written once for all readers."""

    def write_all() -> Generator[None, None, list[str]]:
        yield
        return model.go_on(model.prompts(task, at))

    return _texts.get((_models.of(model.model), task, at), write_all, None)


def writer_of(key: str) -> Member:
    """By its key; our decoder for an unknown one."""
    return WRITERS.get(key) or WRITERS[OUR_DECODER]


def task_of(name: str) -> Task:
    """By its name; the first for an unknown one."""
    return next((task for task in TASKS if task.name == name), TASKS[0])

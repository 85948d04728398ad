"""The models that are given prompts: our decoder, GPT-2 and T5, each in its own form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from demos.bert.causal.prompts import TASKS, Answered, Task, answered, continued
from demos.bert.family import prompted
from demos.bert.family.members import BOTH, MEMBERS, OUR_DECODER, Member
from demos.page.services import Services

WRITERS = {key: MEMBERS[key] for key in (OUR_DECODER, "gpt2", "t5-small")}


class Prompted(NamedTuple):
    """A model that is given prompts."""

    answer: Callable[[str, str], Answered]  # how likely it makes an answer after a prompt
    go_on: Callable[[str], str]  # what it writes after a prompt
    words: int  # of its vocabulary
    prompts: Callable[[Task, int], list[str]] = Task.prompts  # of a question


def model_of(services: Services, member: Member) -> Prompted:
    """The model of this member. Raises UserError where it can't be had."""
    if member.key == OUR_DECODER:
        decoder = services.decoder()
        return Prompted(partial(answered, decoder), partial(continued, decoder), decoder.decoder.out_features)
    loaded = services.family.get(member.key)
    read, words = (loaded.model, loaded.tokenizer), loaded.model.config.vocab_size
    if member.stack == BOTH:
        both = partial(prompted.answered_by_both, *read), partial(prompted.written_by_both, *read)
        return Prompted(*both, words, Task.text_to_text)
    return Prompted(partial(prompted.answered, *read), partial(prompted.continued, *read), words)


def answers(model: Prompted, task: Task, at: int) -> list[Answered]:
    """The question `at` after each of its prompts."""
    return [model.answer(prompt, task.pairs[at][1]) for prompt in model.prompts(task, at)]


def writer_of(key: str) -> Member:
    """By its key; our decoder for an unknown one."""
    return WRITERS.get(key) or WRITERS[OUR_DECODER]


def task_of(name: str) -> Task:
    """By its name; the first for an unknown one."""
    return next((task for task in TASKS if task.name == name), TASKS[0])

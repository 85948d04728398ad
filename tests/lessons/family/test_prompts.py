"""Zero, one, few examples: the ranks on the page are the decoder's, and the program prints them."""

import html
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pytest

from demos.bert.causal.prompts import SHOTS, TASKS, Answered, answered
from demos.bert.family import prompted
from demos.bert.family.family_store import FamilyStore
from demos.bert.family.members import OUR_DECODER
from demos.lessons.family.prompts import part
from demos.lessons.family.prompts.models import WRITERS, task_of
from demos.lessons.family.prompts.part import Prompts, answer
from demos.lessons.family.prompts.stored import STORED, read_stored, write_stored
from demos.page.services import Sentence, Services
from demos.page.view import On, Shown, limit
from tests.benchmarks import prompts as benchmark
from tests.bert.family.family_hub import family_hub
from tests.bert.family.tiny_family import member, write
from tests.one_line import one_line
from tests.programs import printed
from tests.shown_values import shown_values

EMPTY = Sentence("", "", "")
FRENCH, CAPITALS = (task_of(name) for name in ("English to French", "Capitals"))


def show(services: Services, task: str, question: int = 1, writer: str = OUR_DECODER) -> Shown:
    choices = {"task": task, "question": question, "answered_by": writer, "writer": writer}
    return shown_values(Prompts().shown(services, EMPTY, **choices))


def chosen(services: Services, answered_by: str, writer: str) -> list[Shown]:
    """All that is said until what is chosen answers."""
    on = On(services, EMPTY)
    return list(Prompts().draw_writer(on, Prompts().read(on, {"answered_by": answered_by, "writer": writer})))


@pytest.mark.slow
def test_the_ranks_are_the_decoders(services: Services) -> None:
    task = CAPITALS
    plot = show(services, task.name)["plot"]
    for column, shots in enumerate(SHOTS):
        found = [answered(services.decoder(), task.prompt(at, shots), pair[1]) for at, pair in enumerate(task.pairs)]
        assert list(plot.data[column].y) == [one.rank for one in found]
        assert plot.data[len(SHOTS)].y[column] == np.median([one.rank for one in found])
    facts = answer(services, EMPTY, task.name).facts
    assert (facts["zero"], facts["few"]) == (plot.data[len(SHOTS)].y[0], plot.data[len(SHOTS)].y[2])


def test_examples_help_where_the_part_opens(services: Services) -> None:
    """Also on words that are not in the task."""
    others = (
        "happy:yes bitter:no sweet:yes horrible:no lovely:yes cowardly:no pleasant:yes ugly:no beautiful:yes "
        "miserable:no good:yes bad:no generous:yes greedy:no true:yes false:no faithful:yes mean:no patient:yes rude:no"
    )
    words = tuple((word, answer) for word, _, answer in (pair.partition(":") for pair in others.split()))
    for task in (TASKS[0], replace(TASKS[0], words=words)):
        rows = [
            [answered(services.decoder(), prompt, answer) for prompt in task.prompts(at)]
            for at, (_, answer) in enumerate(task.pairs)
        ]
        zero, one, three = ([one.rank for one in column] for column in zip(*rows, strict=True))
        assert median(zero) > 1.5 * median(one) > 2 * median(three)
        assert all(before > after for before, after in zip(zero, three, strict=True))
        chances = [fmean(one.probability for one in column) for column in zip(*rows, strict=True)]
        assert chances[2] > 1.5 * chances[1] > 2 * chances[0]


def test_one_question_is_told_and_the_program_prints_it(services: Services) -> None:
    values = show(services, FRENCH.name, 3)
    found = [answered(services.decoder(), FRENCH.prompt(2, shots), FRENCH.pairs[2][1]) for shots in SHOTS]
    check(values, found, printed(values["program"]), "Our decoder")


def check(values: dict[str, Any], found: list[Answered], lines: list[str], writer: str) -> None:
    """What is shown is what was computed and what the program prints."""
    written = re.findall(rf"{writer} writes: <q[^>]*>(.*?)</q>", values["one"], re.DOTALL)
    assert len(written) == values["one"].count("prompt-text") == len(found)
    for one, text, line in zip(found, written, lines, strict=True):
        assert f"rank <b>{one.rank:,}</b>" in values["one"]
        rank, probability, *rest = line.split(" ", 2)
        assert int(rank) == one.rank
        assert float(probability) == pytest.approx(one.probability, rel=1e-3)
        assert html.unescape(text).split() == "".join(rest).split()


def test_what_the_ranks_say(services: Services) -> None:
    found = one_line(show(services, TASKS[0].name)["found"])
    rows = [
        [answered(services.decoder(), prompt, solution) for prompt in TASKS[0].prompts(at)]
        for at, (_, solution) in enumerate(TASKS[0].pairs)
    ]
    for column in zip(*rows, strict=True):
        assert f"<b>{median(one.rank for one in column):.1f}</b> with" in found
    firsts = [row[-1].best[0].token for row in rows]
    assert (
        f"<q><bdi>no</bdi></q> comes first for {firsts.count('no')} of 12 questions: the examples show the form"
        in found
    )
    of_french = one_line(show(services, FRENCH.name)["found"])
    assert "show the form" not in of_french


def test_the_slider_ends_with_the_questions(services: Services) -> None:
    values = show(services, "GPT-3 paper", 12)
    assert values["question"] == limit(maximum=4, value=4)
    assert "plush girafe =&gt;" in values["one"]


def test_what_is_no_task_or_model_is_the_first_one(services: Services) -> None:
    assert task_of("<b>") is TASKS[0]
    first = show(services, TASKS[0].name, 12)
    assert show(services, "<b>", 99, "bert")["one"] == first["one"]


def test_gpt2_is_fetched_and_answers(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("gpt2", tmp_path / "gpt2")
    tiny = member("gpt2")
    services.family = FamilyStore(services.memory, {"gpt2": tiny})
    monkeypatch.setitem(WRITERS, "gpt2", tiny)
    with family_hub(tmp_path, monkeypatch):
        *_, last = chosen(services, "gpt2", OUR_DECODER)
    assert last == {"writer": "gpt2", "said": ""}
    assert chosen(services, "gpt2", "gpt2") == [{}]  # it is there and shown
    loaded, task = services.family.get("gpt2"), FRENCH
    asked = [(task.prompt(2, shots), task.pairs[2][1]) for shots in SHOTS]
    found = [prompted.answered(loaded.model, loaded.tokenizer, *one) for one in asked]
    values = show(services, task.name, 3, "gpt2")
    program = values["program"].replace(repr(tiny.hub_id), repr(str(tmp_path / "gpt2")))
    check(values, found, printed(program), tiny.title)
    assert [column.y[2] for column in values["plot"].data[: len(SHOTS)]] == [one.rank for one in found]
    assert values["plot"].layout.yaxis.title.text == f"rank (of {len(loaded.tokenizer):,})"
    assert f"{task.name}, {tiny.title}" in values["numbers"]


def test_t5_is_given_its_own_form(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("t5", tmp_path / "t5")
    tiny = replace(member("t5"), key="t5-small")
    services.family = FamilyStore(services.memory, {"t5-small": tiny})
    monkeypatch.setitem(WRITERS, "t5-small", tiny)
    with family_hub(tmp_path, monkeypatch):
        *_, last = chosen(services, "t5-small", OUR_DECODER)
    assert last == {"writer": "t5-small", "said": ""}
    loaded = services.family.get("t5-small")
    for task, text, told in (
        (FRENCH, "translate English to French: king", "trained on this task with exactly this prefix"),
        (CAPITALS, "Name the capital city: the capital of england is", "T5 was not trained on this task"),
    ):
        found = [prompted.answered_by_both(loaded.model, loaded.tokenizer, text, task.pairs[1][1])]
        values = show(services, task.name, 2, "t5-small")
        assert told in " ".join(values["one"].split())
        assert f">{text}<" in values["one"]
        program = values["program"].replace(repr(tiny.hub_id), repr(str(tmp_path / "t5")))
        check(values, found, printed(program), tiny.title)
        marks, medians, *_ = values["plot"].data
        assert (list(marks.x), marks.y[1]) == (["0"] * 12, found[0].rank)
        assert list(medians.y) == [np.median(marks.y)]
        assert values["plot"].layout.yaxis.title.text == f"rank (of {loaded.model.config.vocab_size:,})"


def test_the_answers_of_larger_models_are_stored_by_a_command_alone(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiny models in the Hub's place: what the command stores is what they answer, and the page shows it."""
    for kind in ("gpt2", "t5"):
        write(kind, tmp_path / kind)
    tiny = {"gpt2": member("gpt2"), "t5-small": replace(member("t5"), key="t5-small")}
    services.family, file = FamilyStore(services.memory, tiny), tmp_path / "answers.json"
    monkeypatch.setattr(benchmark, "WRITERS", {OUR_DECODER: WRITERS[OUR_DECODER], **tiny})
    monkeypatch.setattr(benchmark, "Services", lambda *_: services)
    monkeypatch.setattr(benchmark, "write_stored", partial(write_stored, path=file))
    benchmark.main(options=["--write"])
    assert not file.exists()  # there is no Hub
    with family_hub(tmp_path, monkeypatch):
        benchmark.main(options=["--write"])
    models = read_stored(file)
    assert [(model.hub_id, model.revision) for model in models] == [
        (f"someone/{kind}", "a" * 40) for kind in ("gpt2", "t5")
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", model.day) for model in models)
    loaded = services.family.get("gpt2")
    for task in TASKS:
        for at in range(len(task.pairs)):
            assert [len(model.of(task, at)) for model in models] == [len(SHOTS), 1]
        prompt, solution = task.prompt(at, 3), task.pairs[at][1]
        found = prompted.answered(loaded.model, loaded.tokenizer, prompt, solution)
        told = models[0].of(task, at)[2]
        assert told == (prompted.continued(loaded.model, loaded.tokenizer, prompt), found.rank, found.probability)
    monkeypatch.setattr(part, "stored", lambda: models)
    shown = one_line(show(services, FRENCH.name, 2)["stored"])
    kinds = ["no example", "one example", "three examples", "T5's own input"]
    rows = re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td>', shown)
    assert [(title, html.unescape(kind)) for title, kind, *_ in rows] == [
        *(("Tiny gpt2", kind) for kind in kinds[:3]),
        ("Tiny t5", kinds[3]),
    ]
    assert [rank for *_, rank in rows] == [f"{one.rank:,}" for model in models for one in model.of(FRENCH, 1)]
    assert f"someone/t5, revision aaaaaaa, measured on {models[1].day}" in shown


def test_without_the_file_the_page_says_so(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "stored", list)
    shown = show(services, FRENCH.name, 2)["stored"]
    assert "This copy of the app contains no stored answers" in shown
    assert "<td>" not in shown


def test_what_is_stored_is_the_pinned_models() -> None:
    """Whoever commits the file: it holds answers of the menu's models at their revisions, to the prompts of today."""
    for model in read_stored(STORED):
        pinned = next(one for one in WRITERS.values() if one.hub_id == model.hub_id)
        assert model.revision == pinned.revision
        assert all(model.of(task, at) for task in TASKS for at in range(len(task.pairs)))


def test_where_gpt2_can_not_be_had_the_answers_stay(services: Services) -> None:
    services.family = FamilyStore(services.memory)
    *_, last = chosen(services, "gpt2", OUR_DECODER)
    assert last["answered_by"] == limit(value=OUR_DECODER)
    assert "writer" not in last
    assert "GPT-2 could not be downloaded from the Hugging Face Hub just now." in last["said"]
    assert "Still showing Our decoder." in last["said"]

"""Ready models as the page shows them: the answers are the models' own, and the program prints the same."""

import ast
import html
import re
from pathlib import Path
from typing import Any

import pytest

from demos.files import DATA
from demos.lessons.finetune.ready import part
from demos.lessons.finetune.ready.part import (
    ADAPTERS,
    CORRECT,
    EXAMPLES,
    HUB,
    MOST_LINES,
    Ready,
    fits,
    hub_code,
    lines_of,
)
from demos.page.services import Sentence, Services
from demos.page.view import On, limit
from demos.training.ready.hub_models import HUB_MODELS, HubModels
from demos.training.ready.models import LICENCES, TASKS, TRAINED_ON
from demos.widgets.tasks.registry import view_of
from tests.bert.family.family_hub import family_hub
from tests.one_line import one_line
from tests.programs import printed
from tests.shown_values import with_values
from tests.training.ready.tiny_hub import TEXTS, spec, write

BAR = Sentence("", "", "minilm")
OURS, ICE, TALL, WHERE, TWO, DROPLETS = EXAMPLES.values()


def show(services: Services, text: str, question: str, answerer: str = ADAPTERS) -> list[Any]:
    """The answers, and the program for all of them."""
    said = {"ready": text, "ask": question, "ready_by": answerer, "answerer": answerer}
    shown = with_values(Ready().shown)(services, BAR, **said)
    return [shown[name] for name in (*TASKS, "program")]


def chosen(services: Services, ready_by: str, answerer: str) -> list[dict[str, Any]]:
    """All that is said until what is chosen answers."""
    on = On(services, BAR)
    return list(Ready().draw(on, Ready().read(on, {"ready_by": ready_by, "answerer": answerer})))


def test_each_example_names_its_source() -> None:
    sources = [name.partition(" (")[2].rstrip(")") for name in EXAMPLES]
    assert sources == ["", "", "", "Hugging Face", "Hugging Face", "SQuAD"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_says_whether_an_answer_is_wrong_and_which_is_correct(services: Services, name: str) -> None:
    text, question = EXAMPLES[name]
    *shown, _ = show(services, text, question)
    wrong = {kind for kind, answer in zip(TASKS, shown, strict=True) if "This answer is wrong" in answer}
    assert bool(wrong) == name.startswith("Wrong: ")
    correct = CORRECT.get((text, question), {})
    assert all(correct[kind] in one_line(shown[[*TASKS].index(kind)]) for kind in wrong)
    if name == next(iter(EXAMPLES)):
        assert correct.keys() == {"sentence", "entities", "question"}  # and all of them are correct
    own = " ".join([text, question] * (not name.endswith(")"))).split("\n")
    data = [path.read_text(encoding="utf-8") for path in DATA.iterdir() if path.stem != "first_examples"]
    assert not [line for line in own for file in data if line.strip() and line.strip() in file]


def test_only_the_models_that_the_text_fits_are_run(services: Services) -> None:
    def idle(text: str, question: str) -> set[str]:
        *shown, _ = show(services, text, question)
        return {kind for kind, answer in zip(TASKS, shown, strict=True) if "ready-idle" in answer}

    assert idle(*OURS) == {"pair"}
    assert idle(*ICE) == {"question"}
    assert idle("Where do I work?", "") == {"sentence", "question", "pair"}
    assert idle("Is it good?\nIt is.", "Why?") == set()
    sentiment, *_ = show(services, "Is it good?\nIt is.", "Why?")
    assert "Is it good" not in sentiment


def test_the_lectures_sentences_are_answered(services: Services) -> None:
    sentiment, names, answer, *_ = show(services, *WHERE)
    assert "Sylvain" in names
    assert "Brooklyn" in names
    assert "<mark" in answer
    assert "Brooklyn" in answer
    both, *_ = show(services, *TWO)
    assert [line for line in ("positive</b>", "negative</b>") if line in one_line(both)] == [
        "positive</b>",
        "negative</b>",
    ]
    assert "pipeline(&#34;sentiment-analysis&#34;, …)" in sentiment
    droplets = show(services, *DROPLETS)[2]
    assert "cloud" in droplets


def test_the_program_prints_what_the_page_shows(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    text, question = TWO
    text = f"{text}\n\n \nAnna Berg met Tom in Oslo."
    lines = lines_of(text)
    *_, program = show(services, text, question)
    *classes, names, answer = printed(program)
    assert not fits("pair", lines, question)
    for line, told, chances in zip(lines, classes, services.ready.get("sentence").predict(lines), strict=True):
        found = ast.literal_eval(told.removeprefix(line).strip())
        assert [*found.values()] == pytest.approx(chances, abs=2e-4)
    view, tagger = view_of("entities"), services.ready.get("entities")
    example = view.example_of([text])
    entities = tagger.task.entities_of(tagger.answers([example])[0])
    said = [(" ".join(example.words[one.start : one.end]), one.kind) for one in entities]
    assert said
    assert [(name, kind) for name, kind, _ in ast.literal_eval(names)] == said
    reader = services.ready.get("question")
    best = reader.answers([view_of("question").example_of([question, text])])[0].best[0]
    assert answer == text[best.start : best.end]


def test_the_program_compares_two_lines_as_the_page_does(services: Services) -> None:
    *_, program = show(services, *ICE)
    (*_, chances) = printed(program)
    view = view_of("pair")
    (answer,) = services.ready.get("pair").answers([view.example_of(ICE[0].splitlines())])
    labels = services.ready.get("pair").task.labels
    assert ast.literal_eval(chances) == {
        label: pytest.approx(p, abs=2e-4) for label, p in zip(labels, answer, strict=True)
    }


def test_start_and_end_are_of_the_text_as_it_is_typed(services: Services) -> None:
    """Blank lines count as characters, and what comes behind the fifth line is part of the text."""
    text = "\n\n".join(
        ["It rained.", "It snowed.", "The sun shone.", "Nobody came.", "A dog barked.", "Tom lives in Oslo."]
    )
    question = "Where does Tom live?"
    _, names, shown, _, program = show(services, f"\n{text}\n", question)
    assert re.search(r"<mark[^>]*>Oslo</mark>", shown)
    assert "Oslo" in names
    answer = services.ready.get("question").answers([view_of("question").example_of([question, text])])[0].best[0]
    assert (answer.start, answer.end) == (text.index("Oslo"), text.index("Oslo") + 4)
    assert repr(text) in program


def test_empty_and_hostile_texts_become_one_sentence_or_text(services: Services) -> None:
    shown = show(services, "", "")
    assert all('role="alert"' in one or "notice" in one for one in shown[:3])
    script = "<script>alert(1)</script>"
    assert all(script not in str(one) for one in show(services, f"{script} Anna left.", script)[:3])
    assert len(lines_of("A.\n\n" * 9)) == MOST_LINES


def test_each_answer_has_its_models_data_and_licence_and_a_whole_program(services: Services) -> None:
    text, question = WHERE
    *shown, _ = show(services, text, question)
    assert f"trained on {TRAINED_ON['pair']}. License: {LICENCES['pair']}." in one_line(show(services, *ICE)[3])
    for kind, answer in zip(HUB_MODELS, shown[:-1], strict=True):
        assert f"trained on {TRAINED_ON[kind]}. License: {LICENCES[kind]}." in one_line(answer)
        (code,) = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", str(answer), re.DOTALL)
        program = html.unescape(code)
        assert program.strip() == hub_code(HUB_MODELS[kind], text, lines_of(text), question).strip()
        assert program.startswith(("import ", "from "))
        assert "print(" in program
        assert repr(HUB_MODELS[kind].hub_id) in program
        assert repr(HUB_MODELS[kind].revision) in program
    assert "Version 5 of transformers no longer has <code>pipeline" in one_line(shown[2])
    assert 'pipeline("question-answering"' not in hub_code(HUB_MODELS["question"], text, [text], question)


def test_the_hubs_models_answer_once_they_are_fetched_and_their_programs_print_that(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = {kind: spec(kind) for kind in HUB_MODELS}
    for kind in specs:
        write(kind, tmp_path / kind)
        monkeypatch.setitem(HUB_MODELS, kind, specs[kind])  # type: ignore[arg-type]
    hub = HubModels(models=specs)
    monkeypatch.setattr(part, "hub_models", lambda services: hub)
    with family_hub(tmp_path, monkeypatch):
        _, *told, last = chosen(services, HUB, ADAPTERS)
    assert last == {"answerer": HUB, "said": ""}
    assert all(set(message) == {"said"} for message in told)
    assert chosen(services, HUB, HUB) == [{}]  # they are there and shown
    assert chosen(services, ADAPTERS, HUB)[-1] == {"answerer": ADAPTERS, "said": ""}

    question, text = "Where do I work?", TEXTS[0] + "\n" + TEXTS[2]
    lines = lines_of(text)
    *shown, whole = show(services, text, question, HUB)
    assert "Adapter for MiniLM" in shown.pop()  # of the two lines: no model of the Hub is there for them
    for kind, answer in zip(specs, shown, strict=True):
        assert f"<b>{specs[kind].hub_id}</b>, trained on {specs[kind].data}." in one_line(answer)
        whole = whole.replace(repr(specs[kind].hub_id), repr(str(tmp_path / kind)))
    printed_lines = printed(whole)
    for line, told_line, chances in zip(lines, printed_lines, hub.trained("sentence").predict(lines), strict=False):
        label, score = told_line.removeprefix(line).split()
        assert (label, float(score)) == (("NEGATIVE", "POSITIVE")[chances[1] > chances[0]], round(max(chances), 4))
        assert "Most likely class of" in shown[0]
    tagger, view = hub.trained("entities"), view_of("entities")
    example = view.example_of([text])
    entities = tagger.task.entities_of(tagger.answers([example])[0])
    names = [line.rsplit(" ", 2) for line in printed_lines[2:-1]]
    assert [(kind, float(score)) for _, kind, score in names] == [
        (name.kind, pytest.approx(name.probability, abs=1e-4)) for name in entities
    ]
    best = hub.trained("question").answers([view_of("question").example_of([question, text])])[0].best[0]
    assert "\n".join(printed_lines).endswith(text[best.start : best.end])


def test_where_the_hub_can_not_be_reached_the_adapters_go_on(services: Services) -> None:
    *_, last = chosen(services, HUB, ADAPTERS)
    assert (last["answerer"], last["ready_by"]) == (ADAPTERS, limit(value=ADAPTERS))
    assert (
        "could not be downloaded from the Hugging Face Hub just now. The answers below are still those of"
        in one_line(last["said"])
    )


def test_a_text_of_the_placeholders_stays_a_text() -> None:
    text = "MODEL and QUESTION\nit's \"\\ LINES"
    program = hub_code(HUB_MODELS["question"], text, text.splitlines(), "TEXT")
    assert "question, text = " + repr("TEXT") + ", " + repr(text) in program

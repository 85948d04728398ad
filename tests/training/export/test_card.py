"""The model card: what it tells, that no text can harm it, and that its program runs."""

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard
from markdown_it import MarkdownIt

from demos.bert.model.catalogue import CATALOGUE
from demos.bert.model.models import LoadedModel
from demos.training.events import Started
from demos.training.export.card import card, plain, usage_code
from demos.training.export.recipe_file import Recipe
from demos.training.export.run_log import Log
from demos.training.export.transformers_folder import export, form_of, how_loaded
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.multi_label.task import MultiLabel
from demos.training.tasks.multiple_choice.task import MultipleChoice
from demos.training.tasks.question_answering.files import QuestionExample
from demos.training.tasks.question_answering.task import QuestionAnswering
from demos.training.tasks.similarity.task import Similarity
from tests.training.export.test_transformers_folder import LABELS, trained_on


def told(labels: tuple[str, ...] = LABELS, name: str = "films", **recipe: Any) -> Log:
    spec = CATALOGUE["minilm"]
    started = Started(
        labels, 60, 10, 100, 0, 8, 4, 1_000, 900, "accuracy", "always “no”", 0.2, 0.2, "CPU", "float32", threads=1
    )  # fmt: skip
    return Log(
        recipe=Recipe(**recipe), base_title=spec.title, base_id="", base_revision="", data_name=name,
        notes=("2 rows | left out.",), started=started, metrics={"accuracy": 0.9, "MCC": None}, loss=0.3,
        looks=((0, None, 1.8, 0.1), (4, 1.0, 0.7, 0.8)), steps=4, stopped="asked", seconds=3.2,
        examples_per_second=50.0,
    )  # fmt: skip


def test_the_card_tells_everything_and_no_text_can_harm_it(tiny: LoadedModel) -> None:
    wild = "x\n---\n# Ha | <script>alert(1)</script> [l](http://e.org) ```"
    task = Classification(LABELS)
    form, how = form_of(task, tiny.model.config), how_loaded(task, tiny.model.config)
    text = card(told(name=wild, data="hub", hub="a/b: {c}\n- d"), form, how)
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    matter = yaml.safe_load(front)
    assert matter["pipeline_tag"] == "text-classification"
    assert matter["datasets"] == ["a/b"]
    assert matter["base_model"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert "license" not in matter  # another's data: not ours to say
    assert yaml.safe_load(card(told(), form, how).split("---")[1])["license"] == "apache-2.0"
    assert "<script" not in body
    assert "](http:" not in body
    assert not {"a", "img", "script"} & set(re.findall(r"<(\w+)", MARKDOWN.render(body)))
    assert body.count("```") == 2  # our own block's
    assert "\n---\n" not in body
    assert body.count("\n# ") == 1
    facts = ("0.900", "100 test examples", "stopped by the user after 4 of 8", "| learning rate | 0.0001 |", "float32")
    for fact in facts:
        assert fact in body
    cells = {line.count(" | ") for line in body.splitlines() if line.startswith(("| step", "| 4 "))}
    assert cells == {3}


def test_the_scores_on_test_examples_are_in_the_hubs_index(tiny: LoadedModel) -> None:
    """As the Hub's own library reads it; a metric without a value, and a run without a test, are not in it."""
    task = Classification(LABELS)
    form, how = form_of(task, tiny.model.config), how_loaded(task, tiny.model.config)
    wild = 'x"\n- {a: b} # c'
    read = ModelCard(card(told(name=wild, data="hub", hub="a/b:c"), form, how)).data
    (result,) = read.eval_results
    assert (result.task_type, result.dataset_type, result.dataset_split) == ("text-classification", "a/b", "test")
    assert (result.metric_type, result.metric_name, result.metric_value) == ("accuracy", "accuracy", 0.9)
    assert read.model_name == f"{wild}, on {CATALOGUE['minilm'].title}"
    own = ModelCard(card(told(data="file"), form, how)).data.eval_results
    assert [one.dataset_type for one in own] == ["inside-bert-file"]
    log = told()
    log = replace(log, metrics={"Spearman's ρ": 0.5, "macro F1": 1 / 3})
    several = ModelCard(card(log, form, how)).data.eval_results
    assert [(one.metric_type, one.metric_value) for one in several] == [("spearmanr", 0.5), ("f1", 0.333333)]
    untested = replace(log, started=replace(log.started, test=0))
    assert "model-index" not in card(untested, form, how)


WORDS_OF_PERSONS = (
    "# a", "- b", "1. c", "1234. c", "12) c", "+ c", "> d", "```", "| e |", "*f*", "_g_", "__g__", "h ##", "## h ## #",
    "www.h.org", "http://h.org", "<http://h.org>", "ftp://h.org/a_b", "mailto:a@b.org", "me@h.org", "<i>", "<!-- a",
    "&amp;", "&#58;", "a & b; c", "[l](http://h.org)", "![l](h)", "[l]: h", "~~s~~", "===", "---", "***", "a\\", "\\*",
    "a|b\\|c", "`a` b", "$x$ and $$y$$", "snake_case_name", "a__b", "{{ x }} ${y} %}", "“quoted” — ✓_✓", "C #", "C#",
    "9:30, CPU threads: 2", "a!b (c) = d.", ": d", "~ e", "[ ] f", "[^1]", "    code", "a\n# b", "x" * 299,
)  # fmt: skip
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.mark.parametrize("text", WORDS_OF_PERSONS)
def test_a_persons_words_stay_words(text: str) -> None:
    """As CommonMark with tables reads them, in each of the card's places; on the Hub a link needs no brackets."""
    shown, words = plain(text), html.escape(" ".join(text.split()))
    places = {
        shown: f"<p>{words}</p>",
        f"# {shown}": f"<h1>{words}</h1>",
        f"- {shown}": f"<ul><li>{words}</li></ul>",
        f"Labels: {shown}.": f"<p>Labels: {words}.</p>",
    }
    for written, expected in places.items():
        assert re.sub(r"\n", "", MARKDOWN.render(written)) == expected
    table = MARKDOWN.render(f"| a | b |\n| --- | --- |\n| {shown} | c |\n")
    assert f"<td>{words}</td>\n<td>c</td>" in table
    assert not re.search(r"https?:|ftp:|mailto:|www\.|(?<!\\)@", shown)


def test_the_written_card_is_plain_to_read(tiny: LoadedModel) -> None:
    task = Classification(("joy_mix", "C#", "9:30", "R&D"))
    form, how = form_of(task, tiny.model.config), how_loaded(task, tiny.model.config)
    text = card(told(labels=task.labels, name="my_films: 2nd"), form, how)
    assert "CPU threads: 1" in text
    assert "Labels: joy_mix, C#, 9:30, R&D." in text
    assert "# my_films: 2nd, on" in text
    assert "&" not in text.replace("R&D", "")
    assert "\\" not in text.replace("\\|", "")  # a stroke would end its cell


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        (Classification(LABELS), "sentence"),
        (Classification(LABELS), "pair"),
        (Entities(("O", "B-A", "I-A")), "entities"),
        (QuestionAnswering(), "question"),
        (MultipleChoice(2), "choice"),
        (MultiLabel(LABELS), "labels"),
        (Similarity(trained_range=(0.0, 2.5, 5.0)), "similarity"),
        (Similarity(trained_range=(1.0, 4.5, 10.0), points=(1, 10), single=True), "similarity"),
    ],
)
def test_the_cards_program_runs_in_the_folder(
    tiny: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, task: Any, kind: str
) -> None:
    form = export(trained_on(task, tiny.model, tiny.tokenizer), tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(compile(usage_code(replace(told(), recipe=Recipe(task=kind)), form), "card", "exec"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("single", [False, True])
def test_the_card_says_what_is_scored(tiny: LoadedModel, single: bool) -> None:
    task = Similarity(trained_range=(1.0, 4.5, 10.0), points=(1, 10), single=single)
    text = card(replace(told(), recipe=Recipe(task="similarity")), form_of(task, tiny.model.config), "")
    assert ("gives a text a score, from 1 to 10." in text) is single
    assert ("rates how similar two sentences are" in text) is not single
    assert ("test texts is uncertain" in text) is single


@pytest.mark.parametrize("hidden", [(), (8,)])
def test_the_cards_program_gives_no_answer_where_the_page_does(
    tiny: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, hidden: tuple[int, ...]
) -> None:
    """A threshold between two questions' gaps: one has an answer, the other none, and the folder says which."""
    examples = [
        QuestionExample("Who sold bread?", "Ann sold tea."),
        QuestionExample("When?", "The river is green now."),
    ]
    ready = trained_on(QuestionAnswering(hidden=hidden, unanswerable=True), tiny.model, tiny.tokenizer)
    answers = ready.answers(examples)
    task: Any = replace(ready.task, tau=sum(answer.gap for answer in answers) / 2)
    form = export(replace(ready, task=task), tmp_path)
    log = replace(told(), recipe=Recipe(task="question"))
    code = usage_code(log, form)
    assert f"more than the threshold τ = {task.tau:.6g}" in card(log, form, "")
    monkeypatch.chdir(tmp_path)
    printed = []
    for example in examples:
        asked = code.replace("The question?", example.question).replace("The paragraph.", example.context)
        exec(compile(asked, "card", "exec"), {})
        printed.append(capsys.readouterr().out.strip())
    shown = [task.predicted_text(answer, one) for answer, one in zip(answers, examples, strict=True)]
    assert sorted(map(bool, shown)) == [False, True]
    assert printed == [text or "no answer" for text in shown]


def test_the_card_of_a_run_whose_questions_all_have_answers_names_no_threshold(tiny: LoadedModel) -> None:
    log, form = replace(told(), recipe=Recipe(task="question")), form_of(QuestionAnswering(), tiny.model.config)
    assert form.tau is None
    assert "no answer" not in card(log, form, "")


def test_the_card_of_a_run_that_has_learned_nothing_says_so(tiny: LoadedModel) -> None:
    task = Classification(LABELS)
    form, how = form_of(task, tiny.model.config), how_loaded(task, tiny.model.config)
    sentence = "The model gives all test sentences the class “[x](http://e.org)”."
    body = card(replace(told(), learned_nothing=sentence), form, how)
    results = body[body.index("## Results") : body.index("## Training")]
    assert "\n\nThe model gives all test sentences the class “\\[x\\](http\\://e.org)”.\n\n" in results
    assert "The model gives" not in card(told(), form, how)

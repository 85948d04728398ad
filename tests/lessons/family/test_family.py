"""The lesson's parts show what was computed: ELMo's paths and sums, inputs for tasks, the family's table."""

import json
import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from markupsafe import escape

from demos.bert.elmo.bundled import bundled as bundled_elmo
from demos.bert.elmo.mixing import mixed, read
from demos.bert.elmo.words import split_words
from demos.bert.encoder.other_sizes import OTHERS
from demos.bert.family.members import MEMBERS, TRANSLATOR
from demos.bert.model.catalogue import CATALOGUE
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons import discover
from demos.lessons.family.elmo.figure import BACKWARD, FORWARD, GREY, architectures, lines_of, window
from demos.lessons.family.elmo.part import FIRST, SECOND, WORD, Elmo, weights_learned
from demos.lessons.family.inputs.forms import EXTRACT, START, TASKS, bert_inputs, gpt_inputs, t5_text, texts_of
from demos.lessons.family.inputs.part import Inputs
from demos.lessons.family.models.models import SEES, models
from demos.lessons.family.models.part import TEXT, Models
from demos.page.services import Sentence, Services
from demos.templates import environment
from demos.training.sources import READERS
from demos.training.tasks.registry import TASKS as TRAINED
from tests.one_line import one_line
from tests.plotly_figure import plotly
from tests.programs import printed
from tests.shown_values import shown_values

BAR = Sentence("", "", "minilm")
HOSTILE = "<img src=x onerror=alert(1)>"


def forms(services: Services, sentence: Sentence, task: str, third: str) -> str:
    """The inputs of a task in the three forms."""
    return str(Inputs().shown(services, sentence, input_task=task, input_third=third)["forms"])


ELMO = ("elmo_first", "elmo_second", "elmo_word", "elmo_norm", "s0", "s1", "s2")


def draw_elmo(services: Services, *choices: Any) -> dict[str, Any]:
    return shown_values(Elmo().shown(services, BAR, **dict(zip(ELMO, choices, strict=True))))


def test_the_sum_is_that_of_the_equation_and_of_the_program(services: Services) -> None:
    shown = draw_elmo(services, FIRST, SECOND, WORD, False, 1, 0.5, 0.5)
    words = split_words(FIRST)
    layers = read(bundled_elmo(), words).layers[:, words.index(WORD)]
    rows = np.array(shown["strips"].data[0].z, float)
    np.testing.assert_allclose(rows[:3], layers * np.array([[0.5], [0.25], [0.25]]), atol=1e-6)
    np.testing.assert_allclose(rows[3], mixed(layers, np.array([0.5, 0.25, 0.25])), atol=1e-6)
    for norm in (False, True):
        shown = draw_elmo(services, FIRST, SECOND, WORD, norm, 1, 0.5, 0.5)
        first, second, cosine = printed(shown["program"])
        sums = np.array(shown["strips"].data[0].z, float)[[3, 7]]
        np.testing.assert_allclose([eval(line.split(" ", 1)[1]) for line in (first, second)], sums[:, :6], atol=1e-4)
        assert f"{float(cosine.split()[1]):.3f}" in shown["cosines"]
    assert "<td>1.000</td>" in shown["cosines"]  # h0: the same word, the same vector


def test_empty_cells_are_what_a_state_can_not_see(services: Services) -> None:
    shown = draw_elmo(services, FIRST, SECOND, WORD, False, 1, 1, 1)
    cells = np.isfinite(np.array(shown["seen"].data[0].z, float))
    at, n = 1, len(split_words(FIRST))
    left, right = [place <= at for place in range(n)], [place >= at for place in range(n)]
    assert cells.tolist() == [[True] * n, left, left, right]


@pytest.mark.parametrize("panel", [0, 1, 2])
def test_coloured_lines_are_the_paths_into_one_state(panel: int) -> None:
    n, at = 5, 2
    lines = [(tuple((round(x, 6), round(y, 6)) for x, y in line), colour) for line, colour in lines_of(panel, n, at)]
    reached = {(float(at), 3.0)}
    for _ in range(n + 3):  # from the last state down
        reached |= {start for start, end in (line for line, _ in lines) if end in reached}
    for (start, end), colour in lines:
        assert (colour != GREY) == (end in reached), (start, end)
    inputs = {x for x, y in reached if y == 0}
    assert inputs == ({0, 1, 2} if panel == 1 else {0, 1, 2, 3, 4})
    assert {colour for _, colour in lines} == {GREY, FORWARD, *([BACKWARD] if panel == 2 else [])}


def test_long_sentences_show_the_words_around() -> None:
    assert window(20, 0) == range(7)
    assert window(20, 19) == range(13, 20)
    assert window(3, 1) == range(3)
    figure = plotly(architectures([f"w{number}" for number in range(20)], 10))
    assert list(figure.layout.xaxis.ticktext) == [f"w{number}" for number in range(7, 14)]


@pytest.mark.parametrize(
    ("first", "second", "word", "said"),
    [
        (FIRST, SECOND, "zebra", "must occur in both"),
        (FIRST, "No such word.", "stick", "must occur in both"),
        ("", SECOND, "stick", "Type two sentences"),
        ("stick " * 25, SECOND, "stick", "at most 24 words"),
        ("x" * 301, SECOND, "stick", "at most 300"),
    ],
)
def test_sentences_that_can_not_be_compared(services: Services, first: str, second: str, word: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        draw_elmo(services, first, second, word, False, 1, 1, 1)


def test_hostile_words_stay_text(services: Services) -> None:
    shown = draw_elmo(services, f"{HOSTILE} stick", f"stick {HOSTILE}", "stick", True, 1, 1, 1)
    assert "<img" not in "".join(shown[name] for name in ("told", "cosines", "numbers"))
    told = forms(services, Sentence(HOSTILE, HOSTILE, "minilm"), "choice", HOSTILE)
    assert "<img" not in told
    assert str(escape(HOSTILE)) in told


def test_each_task_of_fine_tune_has_its_forms(bundled: LoadedModel) -> None:
    assert len(TASKS) >= len(TRAINED)
    leads_to = environment().get_template("lessons/finetune/train/text.html").module.read_elsewhere
    assert set(leads_to) == set(READERS)
    assert set(leads_to.values()) <= set(TASKS)
    for name, task in TASKS.items():
        texts, own = texts_of(task, [])
        assert not own
        assert all(text in t5_text(task, texts) for text in texts)
        for row in gpt_inputs(name, texts):
            assert (row[0].text, row[-1].text) == (START, EXTRACT)
        for number, row in enumerate(bert_inputs(bundled.tokenizer, texts, 512)):
            pair = texts[number + 1] if len(texts) > 1 else None
            by_transformers = bundled.tokenizer(texts[0], pair).tokens()
            assert [piece.text for piece in row] == by_transformers


def test_gpts_four_forms() -> None:
    def rows(name: str, *texts: str) -> list[str]:
        return [" ".join(piece.text for piece in row) for row in gpt_inputs(name, texts)]

    assert rows("classification", "a") == [f"{START} a {EXTRACT}"]
    assert rows("entailment", "a", "b") == [f"{START} a $ b {EXTRACT}"]
    assert rows("similarity", "a", "b") == [f"{START} a $ b {EXTRACT}", f"{START} b $ a {EXTRACT}"]
    assert rows("score", "a", "b") == rows("similarity", "a", "b")
    assert rows("choice", "a", "b", "c") == [f"{START} a $ b {EXTRACT}", f"{START} a $ c {EXTRACT}"]
    assert rows("names", "a") == []


@pytest.mark.parametrize("name", TASKS)
def test_the_four_prefixes_of_t5s_first_figure_are_below_each_task(services: Services, name: str) -> None:
    told = forms(services, BAR, name, "")
    _, _, t5 = told.rpartition("<h3>T5</h3>")
    shown = re.findall(r'<span class="text-to-text">([^<]*)</span> → <span class="text-to-text">([^<]*)</span>', t5)
    prefixes = ("translate English to German:", "cola sentence:", "stsb sentence1:", "summarize:")
    assert [next(prefix for prefix in prefixes if given.startswith(prefix)) for given, _ in shown] == list(prefixes)
    assert [written for _, written in shown][:3] == ["Das ist gut.", "not acceptable", "3.8"]


def test_the_readers_texts_take_the_examples_place(services: Services, bundled: LoadedModel) -> None:
    told = forms(services, Sentence("An otter dives.", "It swims.", "minilm"), "entailment", "")
    assert "mnli hypothesis: It swims. premise: An otter dives." in told
    assert "an example is shown" not in told
    tokens = encode(bundled.tokenizer, "An otter dives.", "It swims.").tokens
    shown = re.findall(r"<bdi>(.*?)</bdi>", told)
    assert tuple(shown[: len(tokens)]) == tokens
    told = forms(services, Sentence("An otter dives.", "", "minilm"), "entailment", "")
    assert "an example is shown" in told
    with pytest.raises(UserError, match="at most 600"):
        forms(services, Sentence("x" * 601, "", "minilm"), "entailment", "")


def test_the_family_is_in_order_and_counted() -> None:
    found = models()
    assert [model.date for model in found] == sorted(model.date for model in found)
    assert {model.sees for model in found} == set(SEES)
    counts = {one.name: one.parameters for one in OTHERS}
    by_name = {model.name: model for model in found}
    assert by_name["GPT-3"].parameters == counts["GPT-3"]
    assert by_name["BERT large"].parameters == 335_141_888  # as in test_size.py
    assert by_name["GPT-4"].parameters is None
    assert all(re.fullmatch(r"\d{4}\.\d{4,5}|", model.arxiv) for model in found)
    assert all(not model.arxiv or model.arxiv[:2] == model.date[2:4] for model in found)


def family(services: Services, **said: Any) -> dict[str, Any]:
    return Models().shown(services, BAR, **said)


def test_the_timeline_has_every_model_and_the_table_too(services: Services) -> None:
    shown = family(services)
    picture, table = shown["timeline"], shown["table"]
    names = [text.strip() for trace in plotly(picture).data for text in trace.text]
    assert sorted(names) == sorted(model.name for model in models())
    assert table.count("<tr>") == len(models()) + 1
    assert all(str(escape(model.source)) in table for model in models())


def test_the_sizes_are_those_of_the_table(services: Services) -> None:
    family_shown = family(services)
    figure, table = plotly(family_shown["sizes"]), family_shown["table"]
    names = figure.layout.yaxis.ticktext
    shown = {}
    for trace in figure.data:
        for x, y, (name, source) in zip(trace.x, trace.y, trace.customdata, strict=True):
            assert names[int(y)].startswith(f"{name}, ")
            shown[unescape(name)] = x
            assert ": " in source
    assert shown == {model.name: model.parameters for model in models() if model.parameters}
    assert "GPT-4" not in shown
    assert all(f"{size:,}" in table for size in shown.values())
    said = one_line(TEXT.sizes(models()))
    assert f"{shown['Llama 3, largest'] / shown['BERT large']:,.0f} times as many" in said


def test_both_positions_moved_alike_leave_the_product(services: Services) -> None:
    turned = family(services, query_at=3, key_at=8, component_pair=4)
    picture, said = turned["turned"], turned["said"]
    figure = plotly(picture)
    curve, here = figure.data[-2:]
    assert here.x[0] == 5
    assert here.y[0] == pytest.approx(dict(zip(curve.x, curve.y, strict=True))[5])
    rotated_query, rotated_key = figure.data[1], figure.data[3]
    product = rotated_query.x[1] * rotated_key.x[1] + rotated_query.y[1] * rotated_key.y[1]
    assert here.y[0] == pytest.approx(product)
    values = re.findall(r"<b>(.*?)</b>", said)
    assert values == [f"{product:.3f}".replace("-", "−")] * 2
    assert plotly(family(services, query_at=20, key_at=25)["turned"]).data[-1].y[0] == pytest.approx(product)
    family(services, query_at=99, key_at=-4, component_pair=1_000)  # brought into the range


def test_each_link_of_the_table_opens_what_exists(services: Services) -> None:
    table = family(services)["table"]
    parts = {lesson.slug: {part.slug for part in lesson.parts} for lesson in discover()}
    linked = [model.opens for model in models() if model.opens]
    found = re.findall(
        r'<td class="words"><a (?:data-lesson="\w+" data-choices=\'(.*?)\' )?href="(.*?)">(.*?)</a>', table
    )
    assert len(found) == len(linked) >= 8
    for one, (choices, href, title) in zip(linked, found, strict=True):
        address = urlsplit(unescape(href))
        asked = dict(parse_qsl(address.query))
        assert asked == dict(one.choices)
        assert unescape(title) == one.title
        if "model" in asked:
            assert (address.path, asked) == ("./attention", {"model": asked["model"]})
            assert asked["model"] in CATALOGUE
            continue
        assert address.path == f"./{one.lesson}"
        assert json.loads(unescape(choices)) == asked
        assert asked["part"] in parts[one.lesson]
        assert asked.get("family_model", TRANSLATOR) in MEMBERS


def test_a_score_is_text_in_t5s_form(services: Services) -> None:
    told = forms(services, Sentence("A cat sat.", "A cat was sitting.", "minilm"), "score", "")
    assert "stsb sentence1: A cat sat. sentence2: A cat was sitting." in told
    assert round(float(TASKS["score"].target) / 0.2, 6).is_integer()
    assert "one of 21 texts" in told


@pytest.mark.parametrize("norm", [False, True])
def test_learned_shares_are_set_as_weights(norm: bool) -> None:
    text, shares = weights_learned(norm)
    weights = json.loads(shares)
    assert sum(weights) == pytest.approx(1, abs=0.02)
    assert weights[0] < 0.05
    assert f"s2 = {weights[2]:.2f}" in text
    assert "1,485 pairs" in one_line(text)
    assert ("with LayerNorm" in text) == norm

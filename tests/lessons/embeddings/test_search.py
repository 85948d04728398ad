"""The search part's handler: its lists against numpy, its program, a list of one's own, and what can't be searched."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.search import Keywords
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.embeddings.search import one_token, part
from demos.lessons.embeddings.search.figure import search_code
from demos.page import progress
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.data.lists import Listed
from tests.lessons.embeddings.answers import as_read
from tests.programs import printed

BAR = Sentence("The banker sat by the river.", "", "minilm")
EMPTY = Sentence("", "", "minilm")
LINES = "Bread rises.\nA loaf needs time in the oven.\nSaturn has rings.\nThe planet is far.\n"


def steps_of(services: Services, query: str, sentence: Sentence = BAR, **said: Any) -> Iterator[dict[str, Any]]:
    view, on = part.Search(), On(services, sentence)
    for step in view.draw(on, view.read(on, {"search_query": query, **said})):
        yield {name: as_read(value) for name, value in step.items()}


def shown(services: Services, query: str, sentence: Sentence = BAR, **said: Any) -> dict[str, Any]:
    *_, last = steps_of(services, query, sentence, **said)
    return last


def own(lines: str, **said: Any) -> dict[str, Any]:
    """The choices for a list that was pasted."""
    return {"source": part.OWN, "pasted": lines, **said}


def found_by(program: str) -> list[list[tuple[float, str]]]:
    """What the program prints: two lists of score and sentence."""
    return [
        [(float(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in block.split("\n")]
        for block in "\n".join(printed(program)).strip().split("\n\n")
    ]


def test_the_library_is_whole() -> None:
    library = part.our_library()
    assert len(set(library.sentences)) == len(library.sentences) >= 300
    assert len(set(library.topics)) == 10
    assert len(library.topics) == len(library.sentences)


def test_no_word_of_the_worked_example_is_in_the_library() -> None:
    """So that what A and B find there was found by meaning."""
    assert Keywords(part.our_library().sentences).scores(part.QUERY).max() == 0


def test_a_list_of_one_s_own(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(
        "topic,sentence\n" + "".join(f"{k // 2},{one}\n" for k, one in enumerate(LINES.split("\n")[:4])),
        encoding="utf-8",
    )
    query = "How do I bake a loaf?"
    of = shown(services, query, source=part.OWN, file=str(file))
    found = of["rankings"]
    assert of["status"] == '<p class="aside">Read as CSV with commas between the columns, UTF-8.</p>'
    assert of["own"]["visible"] is True
    sentences = LINES.strip().split("\n")
    vectors = services.vectors.get(services.loaded("minilm"), [query, *sentences], [Choice("mean", 6)])[0]
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = units[1:] @ units[0]
    by_b = re.findall(r'title="(.*?)"', found.split("</section>")[1])
    assert by_b == [sentences[k] for k in np.argsort(-scores)]
    assert "<b>1.0</b> of 3 correct" in found.split("</section>")[1]  # each topic has one other sentence
    assert re.search(r"A loaf needs.*?, which shares a word with the query", of["summary"])
    assert f"<td>{scores.max():.4f}</td>" in of["numbers"]
    (tmp_path / "sentences.txt").write_text(LINES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    cosines, words = found_by(of["program"])
    assert [sentence for _, sentence in cosines] == by_b
    np.testing.assert_allclose([score for score, _ in cosines], sorted(scores, reverse=True), atol=2e-4)
    assert words[0][1] == "A loaf needs time in the oven."
    assert words[1][0] == 0


def test_the_program_reads_the_library(bundled: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a model: only what the program does before it encodes."""
    monkeypatch.chdir(Path(__file__).resolve().parents[3])
    program = search_code(bundled.spec, part.QUERY, Choice("mean", 6), ours=True)
    reading = program[program.index("with open(") : program.index("query =")]
    found: dict[str, Any] = {}
    exec(reading, found)
    assert tuple(found["sentences"]) == part.our_library().sentences


def test_an_empty_query_is_the_bar_s_sentence(services: Services) -> None:
    found = shown(services, " ", **own(LINES))
    assert "Query: “The banker sat by the river.”" in found["summary"]
    assert "correct" not in found["rankings"]
    assert shown(services, "One", **own("One line only ${x} <script>"))["rankings"].count("<li") == 3


def test_what_can_not_be_searched_is_a_sentence(services: Services, tmp_path: Path) -> None:
    assert "Choose a file" in shown(services, "x", **own(" "))["status"]
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    for query, said, sentence in (
        ("x", {"source": part.OWN, "file": str(tmp_path / "bad.csv")}, "No column is named"),
        ("x" * 20_001, own(LINES), "The query has 20,001 characters"),
    ):
        with pytest.raises(UserError, match=sentence):
            shown(services, query, **said)
    with pytest.raises(UserError, match="nothing to search for"):
        shown(services, "", EMPTY, **own(LINES))


def test_a_refusal_leaves_no_progress_and_the_list_in_reach(services: Services) -> None:
    steps = steps_of(services, "x", **own(LINES, search_a="pooler"))
    step = next(steps)
    assert (step["status"], step["own"]["visible"], "rankings" in step) == ("", True, False)
    with pytest.raises(UserError, match="was never trained"):
        next(steps)


def test_progress_is_told(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BETWEEN", -1.0)
    monkeypatch.setattr(part, "our_library", lambda: Listed(("One fine day.", "Another fine day."), ("a", "b")))
    first, *_ = steps_of(services, "day")
    assert re.fullmatch(r"<p>Encoding [012] of 2 sentences</p>", first["status"])


def test_one_token_s_nearest_uses_are_those_of_its_program(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = LINES + "A loaf of bread.\nShe likes bread with <b>salt</b>.\n"
    query = "We bake bread at home."
    monkeypatch.setattr(progress, "BETWEEN", -1.0)
    first, *_, last = steps_of(services, query, **own(lines, search_by=part.TOKEN, search_token=4))
    assert (first["cancel"]["visible"], last["cancel"]["visible"]) == (True, False)
    found, told = last["rankings"], last["summary"]
    assert last["status"] == ""
    assert "We bake <mark>bread</mark> at home." in found
    (tmp_path / "sentences.txt").write_text(lines, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for uses, html in zip(found_by(last["program"]), found.split("</section>"), strict=False):
        assert len(uses) == 10
        shown_uses = re.findall(r'title="(.*?)".*?<mark>(.*?)</mark>.*?<b>(.*?)</b>', html)
        for (cosine, use), (sentence, piece, score) in zip(uses, shown_uses, strict=True):
            token, _, text = use.split(" ", 2)
            assert text == sentence.replace("&lt;", "<").replace("&gt;", ">")
            assert token.removeprefix("##") == piece.lower()
            assert float(score.replace("\u2212", "-")) == pytest.approx(cosine, abs=6e-3)
    low, high = (html.split('class="common">')[1].split("</p>")[0] for html in found.split("</section>")[:2])
    assert low.startswith("of 10: <b>3</b> same token, ")
    assert "At <b>layer 1</b>, <b>3</b> of the 10 nearest states also belong to the token “" in told
    assert "At <b>layer 6</b>" in told
    assert high
    assert "<b>salt" not in found + last["numbers"]


def test_the_bundled_uses_are_searched_and_a_word_with_senses_is_chosen(services: Services) -> None:
    uses = one_token.our_uses()
    assert {*part.our_library().sentences} < {*uses.sentences}
    of = shown(services, one_token.QUERY, search_by=part.TOKEN)
    found = of["rankings"]
    assert "a short <mark>note</mark> to her teacher.” among" in found
    assert f"of {len(uses.sentences)} sentences" in found
    assert ("5: note", 5) in of["search_token"]["choices"]
    names = ("search_token", "search_token_a", "search_token_b", "search_a", "search_layer_a", "words")
    assert [of[name]["visible"] for name in names] == [True, True, True, False, False, False]
    by_sense = [re.findall(r'class="tag".*?>(.*?)<', html)[:5] for html in found.split("</section>")]
    assert set(by_sense[1]) == {"written"} != set(re.findall(r'class="tag".*?>(.*?)<', found.split("</section>")[0]))
    for query in ("[CLS]", " \u200b"):
        with pytest.raises(UserError, match="search for"):
            shown(services, query, EMPTY, search_by=part.TOKEN)


def by_token(services: Services, query: str, lines: str, place: int) -> dict[str, Any]:
    view, on = part.Search(), On(services, BAR)
    c = view.read(on, {"search_query": query, "search_place": place, **own(lines)})
    *_, last = view.draw_by_token(on, c)
    return {name.removeprefix("token_"): as_read(value) for name, value in last.items()}


def test_the_same_list_token_by_token(services: Services, bundled: LoadedModel) -> None:
    """Against transformers and the definition of MaxSim, of a list that was pasted."""
    lines = [line for line in LINES.split("\n") if line]
    drawn = by_token(services, "A loaf of bread", LINES, 2)

    def units(text: str) -> torch.Tensor:
        inputs = bundled.tokenizer(text, return_tensors="pt")
        tokens = bundled.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        kept = [at for at, token in enumerate(tokens) if token not in ("[CLS]", "[SEP]", ".")]
        with torch.inference_mode():
            return torch.nn.functional.normalize(bundled.model(**inputs).last_hidden_state[0, kept], dim=1)

    cosines = [(units("A loaf of bread") @ units(line).T).numpy() for line in lines]
    scores = [float(one.max(axis=1).sum()) for one in cosines]
    order = np.argsort(-np.array(scores))
    assert re.findall(r'title="(.*?)"', drawn["lists"].split("</section>")[1]) == [lines[at] for at in order]
    np.testing.assert_allclose(np.array(drawn["matrix"].data[0].z, dtype=float), cosines[order[1]], atol=1e-4)
    framed = [round((shape.x0 + shape.x1) / 2) for shape in drawn["matrix"].layout.shapes]
    assert framed == cosines[order[1]].argmax(axis=1).tolist()
    assert f"MaxSim <b>{scores[order[1]]:.2f}</b> (at most 4: 1 for each" in drawn["told"]
    assert drawn["status"] == ""


def test_no_list_is_compared_and_a_long_one_is_refused(services: Services) -> None:
    empty = {"status": "", "lists": "", "matrix": None, "told": "", "numbers": ""}
    assert by_token(services, "bread", " ", 1) == empty
    with pytest.raises(UserError, match="at most 500 sentences"):
        by_token(services, "bread", "\n".join(map(str, range(501))), 1)

"""The search part's handler: its lists against numpy, its program, a list of one's own, and what can't be searched."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
import torch

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.search import Keywords
from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.lessons.embeddings.search import part
from demos.lessons.embeddings.search.figure import search_code
from demos.page import progress
from demos.page.services import Services
from demos.training.data.lists import Listed
from tests.lessons.embeddings.answers import Recorder, in_order, recorded
from tests.programs import printed

BAR = ("The banker sat by the river.", "", "minilm")
MENUS = ("cls", "last", "mean", "last")
LINES = "Bread rises.\nA loaf needs time in the oven.\nSaturn has rings.\nThe planet is far.\n"


@pytest.fixture(scope="module")
def page(store: ModelStore, bundled: LoadedModel) -> Recorder:
    return recorded(Services(store, "minilm"), part.PART.build)


@pytest.fixture(scope="module")
def show(page: Recorder) -> Callable[..., list[Any]]:
    def last(*arguments: Any) -> list[Any]:
        *_, shown = page.wired[0].handler(*arguments)
        return in_order(page.wired[0].outputs, shown)

    return last


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


def test_a_list_of_one_s_own(
    page: Recorder, show: Callable[..., list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(
        "topic,sentence\n" + "".join(f"{k // 2},{one}\n" for k, one in enumerate(LINES.split("\n")[:4])),
        encoding="utf-8",
    )
    query = "How do I bake a loaf?"
    status, found, told, numbers, code, own, *_ = show(*BAR, query, part.OWN, str(file), "", *MENUS)
    assert status == '<p class="aside">Read as CSV with commas between the columns, UTF-8.</p>'
    assert own["visible"] is True
    sentences = LINES.strip().split("\n")
    vectors = page.services.vectors.get(page.services.loaded("minilm"), [query, *sentences], [Choice("mean", 6)])[0]
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = units[1:] @ units[0]
    by_b = re.findall(r'title="(.*?)"', found.split("</section>")[1])
    assert by_b == [sentences[k] for k in np.argsort(-scores)]
    assert "<b>1.0</b> of 3 correct" in found.split("</section>")[1]  # each topic has one other sentence
    assert re.search(r"A loaf needs.*?, which shares a word with the query", told)
    assert f"<td>{scores.max():.4f}</td>" in numbers
    (tmp_path / "sentences.txt").write_text(LINES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    cosines, words = found_by(code)
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


def test_an_empty_query_is_the_bar_s_sentence(show: Callable[..., list[Any]]) -> None:
    found = show(*BAR, " ", part.OWN, None, LINES, *MENUS)
    assert "Query: “The banker sat by the river.”" in found[2]
    assert "correct" not in found[1]
    assert show(*BAR, "One", part.OWN, None, "One line only ${x} <script>", *MENUS)[1].count("<li") == 3


def test_what_can_not_be_searched_is_a_sentence(show: Callable[..., list[Any]], tmp_path: Path) -> None:
    assert "Choose a file" in show(*BAR, "x", part.OWN, None, " ", *MENUS)[0]
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    for arguments, sentence in (
        (("x", part.OWN, str(tmp_path / "bad.csv"), ""), "No column is named"),
        (("x" * 20_001, part.OWN, None, LINES), "The query has 20,001 characters"),
    ):
        with pytest.raises(UserError, match=sentence):
            show(*BAR, *arguments, *MENUS)
    with pytest.raises(UserError, match="nothing to search for"):
        show("", "", "minilm", "", part.OWN, None, LINES, *MENUS)


def test_a_refusal_leaves_no_progress_and_the_list_in_reach(page: Recorder) -> None:
    steps = page.wired[0].handler(*BAR, "x", part.OWN, None, LINES, "pooler", *MENUS[1:])
    status, *drawn, own, _, _, _ = in_order(page.wired[0].outputs, next(steps))
    assert (status, drawn, own["visible"]) == ("", [gr.skip()] * 4, True)
    with pytest.raises(UserError, match="was never trained"):
        next(steps)


def test_progress_is_told(page: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BETWEEN", -1.0)
    monkeypatch.setattr(part, "our_library", lambda: Listed(("One fine day.", "Another fine day."), ("a", "b")))
    first, *_ = page.wired[0].handler(*BAR, "day", part.LIBRARY, None, "", *MENUS)
    assert re.fullmatch(r"<p>Encoding [012] of 2 sentences</p>", in_order(page.wired[0].outputs, first)[0])


def test_the_same_list_token_by_token(page: Recorder, bundled: LoadedModel) -> None:
    """Against transformers and the definition of MaxSim, of a list that was pasted."""
    handler, _, outputs = page.wired[1]
    lines = [line for line in LINES.split("\n") if line]
    names = ["lists", "matrix", "told", "numbers"]
    *_, shown = handler(BAR[0], "minilm", 2, "A loaf of bread", part.OWN, None, LINES)
    drawn = dict(zip(["status", *names], in_order(outputs, shown), strict=True))

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


def test_no_list_is_compared_and_a_long_one_is_refused(page: Recorder) -> None:
    handler, _, outputs = page.wired[1]
    (shown,) = handler(BAR[0], "minilm", 1, "bread", part.OWN, None, " ")
    assert in_order(outputs, shown) == ["", "", None, "", ""]
    steps = handler(BAR[0], "minilm", 1, "bread", part.OWN, None, "\n".join(map(str, range(501))))
    with pytest.raises(UserError, match="at most 500 sentences"):
        list(steps)

"""What the page says is short enough to be read in a second language: sentence by sentence, and as a reading grade."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from demos.lessons import discover
from demos.training.presets import PRESETS

DEMOS = Path(__file__).resolve().parents[1] / "demos"
TEMPLATES = sorted(DEMOS.rglob("text*.html"))
TOURS = sorted(path for path in (DEMOS.parent / "assets" / "tours").glob("*.md") if path.name != "README.md")
GUIDES = [
    DEMOS.parent / name
    for name in ("README.md", "SECURITY.md", "demos/README.md", "demos/API.md", "assets/tours/README.md")
]
FINDER = sorted((DEMOS / "page" / "finder").glob("*.yaml"))
IDIOMS = re.compile(r"\blighthouse stands\b|\bbaker of its own\b")
MOST_WORDS, MEAN_WORDS, GRADE = 32, 18, 9


def sentences_of(text: str) -> list[list[str]]:
    """The words of each sentence; a formula, a number and a file name are no words."""
    parts = re.split(r"(?<=[.!?])\s+|\n\n", text)
    words = [re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", part) for part in parts]
    return [sentence for sentence in words if len(sentence) > 3]


def prose_of(template: str) -> list[list[str]]:
    """The sentences of a template's paragraphs; a value that is filled in counts as one word, the branches apart."""
    paragraphs = re.findall(r"<p\b[^>]*>(.*?)</p>", re.sub(r"\{#.*?#\}", "", template, flags=re.S), flags=re.S)
    found = []
    for paragraph in paragraphs:
        apart = re.sub(r"\{%-?\s*(?:if|elif|else|endif|for|endfor)\b.*?%\}", "\n\n", paragraph, flags=re.S)
        plain = re.sub(r"<[^>]*>|\{%.*?%\}", " ", re.sub(r"\{\{.*?\}\}", "value", apart, flags=re.S), flags=re.S)
        found += sentences_of(plain)
    return found


def syllables(word: str) -> int:
    """By groups of vowels, without a silent e at the end."""
    return max(1, len(re.findall(r"[aeiouy]+", re.sub(r"(?<=[^l])e$", "", word.lower()))))


def grade(sentences: list[list[str]]) -> float:
    """The reading grade of Kincaid, Fishburne, Rogers and Chissom (1975)."""
    words = [word for sentence in sentences for word in sentence]
    return 0.39 * len(words) / len(sentences) + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


def fold_of(markdown: str) -> list[list[str]]:
    """The sentences of a fold's or a question's text; headings, settings, tables, formulas and code are none."""
    plain = re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|<[^>]*>", "x", markdown, flags=re.S)
    plain = re.sub(r"^(#.*|\|.*|kind:.*|right:.*|---)$", "", plain, flags=re.M)
    return sentences_of(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain))


def leads() -> list[list[str]]:
    """What each lesson and each part says to look at."""
    lessons = discover()
    texts = [lesson.look for lesson in lessons] + [part.look for lesson in lessons for part in lesson.parts]
    return [sentence for text in texts for sentence in sentences_of(text)]


def said() -> list[list[str]]:
    """All sentences of the templates and the leads."""
    templates = [prose_of(path.read_text(encoding="utf-8")) for path in TEMPLATES]
    return [*leads(), *(sentence for found in templates for sentence in found)]


def test_sentences_are_counted() -> None:
    assert sentences_of("One head is on. It attends to 3 tokens here!") == [
        ["One", "head", "is", "on"], ["It", "attends", "to", "tokens", "here"],
    ]  # fmt: skip
    template = "{# a note #}<p>This is <b>{{ n }}</b> of them{% if x %} and more of these come{% endif %}.</p>"
    assert prose_of(template) == [["This", "is", "value", "of", "them"], ["and", "more", "of", "these", "come"]]
    assert [syllables(word) for word in ("token", "table", "value", "the", "sentence")] == [2, 2, 2, 1, 2]
    assert grade([["The", "cat", "sat", "on", "the", "mat"]]) == pytest.approx(-1.45, abs=0.01)


def test_no_sentence_is_too_long() -> None:
    assert [" ".join(words) for words in said() if len(words) > MOST_WORDS] == []


def test_sentences_are_short_on_average() -> None:
    lengths = [len(words) for words in said()]
    assert len(lengths) > 400
    assert sum(lengths) / len(lengths) <= MEAN_WORDS
    assert sum(map(len, leads())) / len(leads()) <= MEAN_WORDS


def test_a_ninth_grader_can_read_it() -> None:
    assert grade(said()) <= GRADE


PART_FOLDERS = sorted({path.parent for path in (DEMOS / "lessons").rglob("text*.html")}, key=str)


@pytest.mark.parametrize(
    "folder", PART_FOLDERS, ids=[str(path.relative_to(DEMOS / "lessons")) for path in PART_FOLDERS]
)
def test_a_ninth_grader_can_read_each_part(folder: Path) -> None:
    """With its formula and its question; "The source" is a list of papers, whose titles are not ours."""
    found = [prose_of(path.read_text(encoding="utf-8")) for path in folder.glob("text*.html")]
    folds = [folder / name for name in ("formula.md", "question.md")]
    found += [fold_of(path.read_text(encoding="utf-8")) for path in folds if path.exists()]
    sentences = [sentence for text in found for sentence in text]
    assert not sentences or grade(sentences) <= GRADE


def test_folds_are_read_without_their_formulas() -> None:
    text = "---\nkind: token\n---\n# A heading of words\n\nThe sum $a + b$ is `x.sum()` [of all](https://a.b)."
    assert fold_of(text) == [["The", "sum", "x", "is", "x", "of", "all"]]


def test_a_percentage_is_written_without_a_blank() -> None:
    """In templates, folds and tours: “15%”. The percent signs of a template's tags are left out."""
    blank = re.compile(r"(?:\d|\}\}|\d\)) %(?![}\w])")
    tags = re.compile(r"\{%.*?%\}|\{#.*?#\}", flags=re.S)
    files = [*TEMPLATES, *(path for path in DEMOS.rglob("*.md") if path.name != "question.md"), *TOURS]
    assert len(files) > 150
    found = {path.name: blank.findall(tags.sub("", path.read_text(encoding="utf-8"))) for path in files}
    found |= {part.tab: blank.findall(part.look) for lesson in discover() for part in lesson.parts}
    assert {name: blanks for name, blanks in found.items() if blanks} == {}


def test_nothing_answers_a_slide_that_the_visitor_has_not_seen() -> None:
    """But "The source" may say how a course does it."""
    unseen = re.compile(r"\b(?:[Ss]ome|[Ii]n|[Tt]he|A) lectures?\b|\b[Ss]lides?\b|\blab sheet\b")
    files = [*TEMPLATES, *DEMOS.rglob("formula.md"), *TOURS]
    texts = {str(path): re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.S) for path in files}
    texts |= {part.tab: part.look for lesson in discover() for part in lesson.parts}
    texts |= {lesson.tab: lesson.look for lesson in discover()}
    texts |= {name: preset.description for name, preset in PRESETS.items()}
    assert len(texts) > 150
    assert {name: found for name, text in texts.items() if (found := unseen.findall(text))} == {}


def texts_of(source: str) -> str:
    """The texts in a module's code, a paragraph each: docstrings, names and JavaScript are none.

    A value that is filled in is "{}"; an example's idiom, which a model reads, is left out.
    """
    tree = list(ast.walk(ast.parse(source)))
    docstrings = {node.value for node in tree if isinstance(node, ast.Expr)}
    pieces = {piece for node in tree if isinstance(node, ast.JoinedStr) for piece in node.values}
    found = []
    for node in tree:
        if isinstance(node, ast.JoinedStr):
            found.append("".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings | pieces:
            found.append(node.value)
    return IDIOMS.sub("", "\n\n".join(text for text in found if " " in text and "=>" not in text))


def shown_by_code() -> dict[str, str]:
    """Each module's texts; what a patch of Gradio is for is read in the log alone."""
    modules = [path for path in DEMOS.rglob("*.py") if "patches" not in path.parts]
    return {str(path): texts_of(path.read_text(encoding="utf-8")) for path in modules}


def test_texts_are_found_in_code() -> None:
    source = (
        'def f(x):\n    """A note."""\n    raise UserError(f"The {x} is " "missing.")\nSCRIPT = "(x) => x"\nA = "a"'
    )
    assert texts_of(source) == "The {} is missing."


def test_no_word_is_a_riddle() -> None:
    """Words that second-language readers stumbled over; CONTRIBUTING.md says what to write in their place."""
    words = r"\b(?:(?<!-)told(?! apart)|asked|anew|hands on|of (?:its|their) own|stands(?! for))\b"
    riddles = re.compile(words, re.IGNORECASE)
    markup = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>|`[^`]*`", flags=re.S)
    folds = [path for name in ("formula.md", "question.md", "sources.md") for path in DEMOS.rglob(name)]
    files = {*TEMPLATES, *DEMOS.rglob("*.html"), *folds, *TOURS, *GUIDES, *FINDER}
    texts = {str(path): markup.sub(" ", path.read_text(encoding="utf-8")) for path in files} | shown_by_code()
    texts |= {part.tab: part.look for lesson in discover() for part in lesson.parts}
    texts |= {lesson.tab: lesson.look for lesson in discover()}
    assert len(texts) > 700
    assert {name: found for name, text in texts.items() if (found := riddles.findall(text))} == {}


def test_the_entries_of_a_vector_are_its_components() -> None:
    """Not its numbers: “384 components”, a table's column “components”, “the first components of the state”."""
    entries = re.compile(r"\} numbers\b|\"numbers\"|\bfirst numbers\b|\b\d numbers\b")
    comments = re.compile(r"\{#.*?#\}", flags=re.S)
    files = [*TEMPLATES, *DEMOS.rglob("formula.md"), *DEMOS.rglob("question.md"), *TOURS]
    texts = {str(path): comments.sub("", path.read_text(encoding="utf-8")) for path in files} | shown_by_code()
    assert {name: found for name, text in texts.items() if (found := entries.findall(text))} == {}


def test_a_picture_is_described_as_it_looks_in_both_themes() -> None:
    """What is dark on the light page is light on the dark one."""
    of_one_theme = re.compile(
        r"\b(?:dark|light|bright)(?:er|est)\b|\bdark \w*(?:cell|strip|line|bar|dot)s?\b|\bpaler?\b"
    )
    files = [path for ending in ("html", "md", "js") for path in DEMOS.rglob(f"*.{ending}")]
    texts = {str(path.relative_to(DEMOS)): path.read_text(encoding="utf-8") for path in files}
    texts |= {part.tab: part.look for lesson in discover() for part in lesson.parts}
    assert len(texts) > 150
    assert {name: found for name, text in texts.items() if (found := of_one_theme.findall(text.lower()))} == {}

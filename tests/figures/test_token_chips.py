"""Token figures: every text escaped, every chip linked to its characters, every number the encoding's own."""

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demos.bert.model.batches.padding import pad
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import ModelStore
from demos.bert.tokens.counts import Counts, count
from demos.bert.tokens.vocabulary import read_vocabulary
from demos.bert.tokens.wordpiece import trace
from demos.figures.token_chips import UNDER, comparison, numbers_table, picture, source_text
from demos.lessons.tokens.figure import MAX_ROWS, TEXT, batch_figure, search_figure, trace_figure
from demos.lessons.tokens.vocabulary import id_html

# All that a figure is made of.
ALLOWED = {"div", "section", "p", "b", "i", "bdi", "span", "ol", "li", "dl", "dt", "dd"}
ALLOWED |= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"class", "data-t", "data-told", "data-hint", "tabindex", "start", "role", "dir", "scope", "title"}
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "${alert(1)}",
    "\"' onfocus='x",
    "&amp;",
]


class Node:
    def __init__(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.tag, self.attributes, self.text = tag, attributes, ""

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()

    @property
    def words(self) -> str:
        """Its text as it is read where white space means nothing."""
        return " ".join(self.text.split())


class Reader(HTMLParser):
    """Every element with all the text inside it; a tag or attribute that no figure uses fails the test."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.nodes: list[Node] = []
        self.open: list[Node] = []
        self.feed(str(markup))  # a slice of Markup would be Markup too
        self.close()
        assert self.open == [], "an element is left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES | {"aria-label"}, attrs
        self.nodes.append(Node(tag, dict(attrs)))
        self.open.append(self.nodes[-1])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for node in self.open:
            node.text += data

    def having(self, name: str) -> list[Node]:
        return [node for node in self.nodes if name in node.classes]


@pytest.fixture(scope="module")
def tokenizer(store: ModelStore) -> Any:
    return store.tokenizer("minilm")


def draw(tokenizer: Any, text: str, pair: str = "", under: str = "id") -> tuple[Encoding, Reader]:
    encoding = encode(tokenizer, text, pair)
    return encoding, Reader(picture(encoding, count(tokenizer, encoding), under=under))


def test_one_chip_a_token_with_its_id(tokenizer: Any) -> None:
    encoding, page = draw(tokenizer, "Unbelievably pronounceable!", "It is 🍕.")
    chips = page.having("chip")
    assert [chip.text for chip in chips] == [
        token + str(number) for token, number in zip(encoding.tokens, encoding.input_ids, strict=True)
    ]
    assert [chip.attributes["data-t"] for chip in chips] == [str(i) for i in range(len(encoding))]
    words = encoding.word_index
    for i, chip in enumerate(chips):
        assert ("joined" in chip.classes) == (words[i] is not None and words[i] == words[i - 1])
        assert ("special" in chip.classes) == (words[i] is None)
        assert words[i] is None or f"w{words[i] % 8}" in chip.classes
        assert ("unknown" in chip.classes) == (encoding.tokens[i] == "[UNK]")
    lists = [node for node in page.nodes if node.tag == "ol"]
    assert [node.attributes["start"] for node in lists] == ["0", str(encoding.sentence_b_start)]


def test_what_stands_under_a_chip(tokenizer: Any) -> None:
    below = {under: [n.text for n in draw(tokenizer, "a bc", under=under)[1].having("below")] for under in UNDER}
    assert below["position"] == ["0", "1", "2", "3"]
    assert below["characters"] == ["–", "0–1", "2–4", "–"]
    assert below["nothing"] == []


def test_the_text_is_linked_to_its_tokens(tokenizer: Any) -> None:
    text = "Zoë\u200b said: 각 🍕 pronounceable"
    encoding = encode(tokenizer, text)
    spans = Reader(source_text(encoding, 0)).having("from")
    for span in spans:
        for i in map(int, (span.attributes["data-t"] or "").split()):
            start, end = encoding.offsets[i]
            assert span.text in text[start:end]
    jamo = next(span for span in spans if span.text == "각")
    assert len((jamo.attributes["data-t"] or "").split()) == 3
    assert [node.text for node in Reader(source_text(encoding, 0)).having("lost")] == ["U+200B"]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Cn", "Co", "Zl", "Zp"]), max_size=40))
def test_no_character_of_the_text_is_missing_or_added(tokenizer: Any, text: str) -> None:
    encoding = encode(tokenizer, text)
    page = Reader(source_text(encoding, 0))
    shown = page.nodes[0].text.replace("◌", "")
    assert shown == text.replace("◌", "").replace("\ufffd", "U+FFFD")
    linked = {i for node in page.having("from") for i in map(int, (node.attributes["data-t"] or "").split())}
    assert linked == {i for i, word in enumerate(encoding.word_ids) if word is not None}


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.one_of(st.text(max_size=15), st.sampled_from([*HOSTILE, "[SEP]", "[MASK]"])), max_size=5))
def test_whatever_is_typed_every_figure_is_well_formed(tokenizer: Any, parts: list[str]) -> None:
    text = " ".join(parts)
    encoding = encode(tokenizer, text, text)
    counts = count(tokenizer, encoding)
    for figure in (
        picture(encoding, counts),
        numbers_table(encoding),
        comparison([(["<b>A</b>"], encoding, counts)], ["<i>B</i>"]),
        trace_figure(trace(tokenizer, text)),
        batch_figure(pad(tokenizer, [encoding, encode(tokenizer, "short")])),
    ):
        Reader(figure)


def test_counts_are_written_out(tokenizer: Any) -> None:
    encoding = encode(tokenizer, "pronounceable 🍕")
    page = Reader(picture(encoding, Counts(characters=1234, spaced=31, words=2, pieces=5, special=2, unknown=1)))
    told = {node.text for node in page.nodes if node.tag in ("dt", "dd")}
    assert {"1,234", "31", "2", "7", "2.50", "20%"} <= told


def test_an_empty_text_has_no_tokens_per_word(tokenizer: Any) -> None:
    encoding = encode(tokenizer, "")
    counts = count(tokenizer, encoding)
    told = [node.text for node in Reader(picture(encoding, counts)).nodes if node.tag == "dd"]
    assert told == ["0", "0", "0", "2", "–", "–"]
    rows = Reader(comparison([(["A"], encoding, counts)], [])).having("row-name")
    assert [row.words for row in rows] == ["A 2 tokens, all special"]


def test_what_falls_off_is_shown(tokenizer: Any) -> None:
    encoding, page = draw(tokenizer, "word " * 500 + "tail " * 100)
    (limit,) = page.having("limit")
    assert "BERT's input is limited to 512 tokens; this text has 602." in limit.words
    assert "90 tokens are dropped" in limit.words
    assert "… and 30 more." in limit.words
    (fell,) = [node for node in page.having("fell") if node.tag == "span"]
    assert fell.text.count("tail") == 90
    assert len(page.having("limit")) == 1
    assert draw(tokenizer, "short")[1].having("limit") == []
    assert len(encoding) == 512


def test_the_numbers_are_all_there(tokenizer: Any) -> None:
    encoding = encode(tokenizer, "Unbelievably so", "yes")
    cells = [node.text for node in Reader(numbers_table(encoding)).nodes if node.tag == "td"]
    rows = [cells[i : i + 8] for i in range(0, len(cells), 8)]
    assert [row[1] for row in rows] == list(encoding.tokens)
    assert [int(row[2]) for row in rows] == list(encoding.input_ids)
    assert [int(row[3]) for row in rows] == list(encoding.token_type_ids)
    assert [row[7] == "yes" for row in rows] == [bool(mask) for mask in encoding.special_tokens_mask]


def test_a_trace_shows_each_step_and_each_try(tokenizer: Any) -> None:
    traced = trace(tokenizer, "Prönounceable!")
    page = Reader(trace_figure(traced))
    steps = {node.text for node in page.nodes if node.tag == "td"}
    assert "ö → o" in steps
    assert "P → p" in steps
    tries = [one for word in traced.words for one in word.tries]
    assert len(page.having("miss")) == sum(one.id is None for one in tries)
    assert [node.text.split("id ")[1] for node in page.having("hit")] == [str(one.id) for one in tries if one.id]


def test_a_change_that_looks_like_none_names_its_parts_and_code_points(tokenizer: Any) -> None:
    steps = [node.text for node in Reader(trace_figure(trace(tokenizer, "Br\ucc3dn's \u2126 n\u00e9"))).nodes]
    assert (
        "\ucc3d (U+CC3D) → \u110e \u1161 \u11bc (U+110E U+1161 U+11BC), \u2126 (U+2126) → \u03a9 (U+03A9), é → e"
        in steps
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a" * 101, "This word has 101 characters; the limit is 100, so it becomes [UNK] without a search."),
        ("🍕", "Not even “🍕” is in the vocabulary, so the whole word becomes [UNK]."),
        ("pizza🍕", "Not even “##🍕” is in the vocabulary, so the whole word becomes [UNK], and the pieces found"),
        ("[MASK]", "a special token: never split"),
        ("hello", "is in the vocabulary: one token"),
    ],
)
def test_a_words_fate_is_told(tokenizer: Any, text: str, said: str) -> None:
    assert said in Reader(trace_figure(trace(tokenizer, text))).having("trace")[0].words


def test_a_search_too_long_to_draw_says_what_it_leaves_out(tokenizer: Any) -> None:
    traced = trace(tokenizer, "qx" * 50)
    word = traced.words[0]
    page = Reader(search_figure(word, traced.rules))
    misses = sum(one.id is None for one in word.tries)
    hidden = sum(int(node.text.split()[1]) for node in page.having("skipped"))
    assert misses > MAX_ROWS
    assert len(page.having("miss")) + hidden == misses


def test_a_long_traced_text_is_cut_short_in_the_figure_only(tokenizer: Any) -> None:
    markup = trace_figure(trace(tokenizer, "wordy-" * 3_000))
    assert len(markup) < 100_000
    assert "more words" in Reader(markup).having("trace")[0].text


def test_padding_is_marked_cell_by_cell(tokenizer: Any) -> None:
    batch = pad(tokenizer, [encode(tokenizer, text) for text in ("one two three", "one")])
    page = Reader(batch_figure(batch))
    assert len(page.having("pad")) == 4 * batch.padding == 8
    assert "2 × 5: 2 of 10 cells are padding (20%)" in page.having("found")[0].words


def test_the_same_input_side_by_side(tokenizer: Any) -> None:
    encoding = encode(tokenizer, "naïve", "yes")
    page = Reader(comparison([(["One", "Two"], encoding, count(tokenizer, encoding))], ["Three", "Four"]))
    assert "One, Two" in page.having("row-name")[0].text
    assert len(page.having("chip")) == len(encoding)
    assert "Not downloaded yet: Three; Four." in page.having("aside")[0].text


def test_the_vocabulary_is_told(tokenizer: Any) -> None:
    vocabulary = read_vocabulary(tokenizer)
    kinds = Reader(TEXT.kinds(len(vocabulary), vocabulary.counts))
    assert [node.text for node in kinds.nodes if node.tag == "dd"][:2] == ["30,522", "22,698"]
    page = Reader(TEXT.matches(vocabulary.search("", limit=7)))
    assert page.having("found")[0].words == "30,522 entries, the first 7 by id"
    assert [node.text for node in page.having("below")] == [str(number) for number in range(7)]
    assert "No entry" in Reader(TEXT.matches(vocabulary.search("<b>"))).nodes[0].text
    begun = Reader(TEXT.words("##<i>able", vocabulary.words_from("able")))
    assert "1 whole word begins with “##<i>able”" in begun.having("found")[0].words
    meaning = Reader(id_html(vocabulary, 7592, 384))
    assert "Id 7592 is hello, a whole word." in meaning.having("found")[0].words
    assert [node.text for node in meaning.having("marked")] == ["hello7592"]

"""The Tokens lesson without a browser: its API answers, its program runs, its tab builds, its parts agree."""

from dataclasses import replace
from typing import Any

import gradio as gr
import pytest
from transformers import BertTokenizerFast

from demos.bert.model.catalogue import CATALOGUE
from demos.bert.model.encoding import encode
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.figures.program import tokens_code
from demos.lessons.tokens.cased import both_cuts, cased_html
from demos.lessons.tokens.figure import TEXT as TEMPLATES
from demos.lessons.tokens.part import LESSON, Tokens, hardest, side_by_side, tokenized, tokens_of
from demos.page.parts import build_lesson
from demos.page.services import Sentence, Services
from tests.page.empty_page import empty_page
from tests.programs import printed
from tests.shown_values import with_values

TEXT, PAIR = "Quizzical wombats outpaced the 14:05 ferry to Øresund.", 'It\'s "late", {not} \\n lost — 🍕.'


@pytest.fixture
def endpoints(store: ModelStore) -> dict[str, Any]:
    """Those of the API that the lesson offers."""
    with gr.Blocks() as demo:
        build_lesson(empty_page(Services(store, "minilm"), LESSON))
    return {one.api_name: one.fn for one in demo.fns.values() if one.api_visibility == "public"}


def shown(services: Services, text: str, pair: str = "", **chosen: Any) -> dict[str, Any]:
    values: dict[str, Any] = with_values(Tokens().shown)(services, Sentence(text, pair, "minilm"), **chosen)
    return values


def test_what_lectures_count_in_their_examples_stands_under_these_alone(store: ModelStore) -> None:
    tokenizer = store.tokenizer("minilm")

    def notes(text: str, pair: str = "") -> str:
        encoding = encode(tokenizer, text, pair)
        return str(TEMPLATES.examples(encoding, tokens_of(encoding, "thanks for all")))

    assert "become 16 pieces. With [CLS] and [SEP], there are 18 tokens" in notes(
        "I am looking forward for today! It’s going to be a big day"
    )
    assert "are 3 tokens, with one id each" in notes("So: Thanks for all the fish")
    assert "would spell puppeter" in notes("A puppeteer")
    assert "henson is one entry" in notes("Jim Henson")
    for text, pair in [("", ""), ("Thanks to all", "thanks for all"), ("A big day", ""), ("I am looking forward", "")]:
        assert not notes(text, pair).strip()


def test_the_lesson_is_the_first_and_asks_a_question() -> None:
    assert (LESSON.slug, LESSON.order, LESSON.tab) == ("tokens", 1, "Tokens")
    assert LESSON.question == "How is text split into tokens?"


def test_the_api_says_what_was_cut(endpoints: dict[str, Any]) -> None:
    notice = "The input has 602 tokens; the limit is 512, so 90 were removed, from its end."
    assert endpoints["tokenize"]("word " * 600)["notice"] == notice


@pytest.mark.parametrize("pair", ["", PAIR])
def test_the_program_prints_what_the_page_shows(store: ModelStore, pair: str) -> None:
    encoding = encode(store.tokenizer("minilm"), TEXT + " \"\"\" ''' \\", pair)
    expected = [f"{token} {number}" for token, number in zip(encoding.tokens, encoding.input_ids, strict=True)]
    assert printed(tokens_code(CATALOGUE["minilm"], encoding)) == expected


def test_the_program_for_a_hub_model_is_pinned(store: ModelStore) -> None:
    program = tokens_code(CATALOGUE["bert-base-cased"], encode(store.tokenizer("minilm"), "a"))
    compile(program, "program", "exec")
    assert "name, revision = 'google-bert/bert-base-cased', " in program
    assert CATALOGUE["bert-base-cased"].revision in program


def test_the_picture_is_drawn_from_the_bar(services: Services) -> None:
    def picture(text: str, pair: str = "") -> str:
        return str(shown(services, text, pair)["picture"])

    drawn = picture("pronounceable")
    assert "unce" in drawn
    assert "begins with ## continues the word" in drawn
    assert "begins with ##" not in picture("a ## b")
    assert "The text itself contains" not in drawn
    assert "is read as [MASK]" not in picture("a [MASK]")
    assert "“[Mask]” is read as [MASK] in every lesson." in picture("a", "[Mask]")
    assert "The text itself contains [SEP] and [CLS]." in picture("a [SEP] b [SEP] [CLS] [MASK]")
    with pytest.raises(UserError, match="20,001 characters"):
        picture("x" * 20_001)


def test_the_trace_follows_the_choice(services: Services) -> None:
    page = shown(services, "He calls it pronounceable.")
    assert [value for _, value in page["word"]["choices"]] == ["", "He", "calls", "it", "pronounceable."]
    assert "<bdi>pronounceable</bdi>" in page["steps"]
    assert "<bdi>pronounces</bdi>" not in shown(services, "He pronounces it.", word="He")["steps"]
    assert "<bdi>straße</bdi>" in shown(services, "He pronounces it.", word="gone", own="Straße")["steps"]
    page = shown(services, "He pronounces it.", word="gone")
    assert "value" not in page["word"]
    assert "<bdi>gone</bdi>" in page["steps"]
    assert "There is nothing to split" in shown(services, "")["steps"]


def test_the_batch_holds_the_bars_sentence_and_the_lines(services: Services) -> None:
    assert "<b>3 × 7</b>" in shown(services, "one two", "three", lines="four\n\nfive six seven eight nine")["padded"]
    drawn = shown(services, "one " * 100, lines="\n".join("abcdefghij"))["padded"]
    assert "The first 8 of 11 inputs are shown." in drawn
    assert "truncated to 48 tokens" in drawn


def test_the_vocabulary_answers(services: Services) -> None:
    page = shown(services, "Hi.", piece="##able")
    assert "ington" in page["matches"]
    assert "<b>1</b> whole word begins" in page["begun"]
    assert "hello" in page["meaning"]
    for wrong in (None, -1, 40_000):
        answer = shown(services, "Hi.", id=wrong)["meaning"]
        assert "whole number" in answer or "run from 0 to 30,521" in answer


def test_the_hardest_word(store: ModelStore) -> None:
    tokenizer = store.tokenizer("minilm")
    assert (
        hardest(tokenizer, ["the", "pronounceable", "antidisestablishmentarianism"]) == "antidisestablishmentarianism"
    )
    assert hardest(tokenizer, ["https://www.example.org/shop?id=42!", "pronounceable"]) == "pronounceable"
    assert hardest(tokenizer, []) == ""


def test_tokenizers_that_cut_alike_share_a_row(store: ModelStore) -> None:
    class Three(ModelStore):
        """The bundled tokenizer twice, and once with BERT's cased rules."""

        def tokenizer(self, key: str) -> Any:
            vocab = store.tokenizer("minilm").get_vocab()
            return BertTokenizerFast(vocab=vocab, do_lower_case=False) if key == "cased" else store.tokenizer("minilm")

    bundled = CATALOGUE["minilm"]
    specs = {key: replace(bundled, key=key, title=key.title()) for key in ("minilm", "twin", "cased")}
    services = Services(Three({**specs, "bert-tiny": CATALOGUE["bert-tiny"]}), "minilm")
    drawn = side_by_side(services, Sentence("Paris in spring", "", "minilm"))
    assert drawn.count('class="tokenizer"') == 2
    assert "<b>Minilm, Twin</b>" in drawn
    assert "Not downloaded yet: BERT tiny, uncased." in drawn
    assert side_by_side(services, Sentence("in spring", "", "minilm")).count('class="tokenizer"') == 1


def test_both_vocabularies_cut_the_lectures_sentence_and_the_bars(store: ModelStore) -> None:
    uncased = store.tokenizer("minilm")
    (_, small, _), (names, large, counts) = both_cuts(uncased, "Jim Henson was a puppeteer")
    assert " ".join(small.tokens) == "[CLS] jim henson was a puppet ##eer [SEP]"
    assert " ".join(large.tokens) == "[CLS] Jim He ##nson was a puppet ##eer [SEP]"
    assert (names, counts.words, counts.pieces, counts.unknown) == (["cased, 28,996 entries"], 5, 7, 0)
    assert cased_html(uncased, "Jim Henson was a puppeteer").count('class="tokenizer"') == 2
    drawn = cased_html(uncased, "<b>Will</b> will", "A pair.")
    assert drawn.count('class="tokenizer"') == 4
    assert "<b>Will" not in drawn


def test_an_unknown_model_is_told(store: ModelStore) -> None:
    with pytest.raises(UserError, match="There is no model"):
        Services(store, "minilm").key("nonsense")
    assert "notice" not in tokenized(encode(store.tokenizer("minilm"), "short"))

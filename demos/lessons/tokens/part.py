"""The Tokens lesson: word pieces as one types, each step of WordPiece, the padded batch and the vocabulary."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from demos.bert.model.batches.padding import pad
from demos.bert.model.catalogue import BUNDLED, WORDPIECE
from demos.bert.model.encoding import BYTES, SENTENCE_PIECE, Encoding, encode, truncation_notice
from demos.bert.model.models import at_hand
from demos.bert.model.text import clean_text, small_mask
from demos.bert.tokens.counts import Counts, count
from demos.bert.tokens.wordpiece import chunks, trace
from demos.figures.program import tokens_code
from demos.figures.token_chips import UNDER, comparison, numbers_table, picture
from demos.files import Json, read_beside
from demos.lessons.tokens.cased import cased_html
from demos.lessons.tokens.figure import BATCH_DRAWN, TEXT, batch_figure, trace_figure
from demos.lessons.tokens.vocabulary import OF_VOCABULARY, OfVocabulary, lay_out_vocabulary, searched
from demos.page.folds import fold
from demos.page.lesson import Lesson, Page
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, open_menu, options, words

MAX_WORDS = 200  # words of the sentence offered in the menu
MAX_RANKED = 60  # words looked at for the one with the most pieces
HARDEST = ("the word with the most pieces", "")
BATCH_EXAMPLE = "A short one.\nThis one is quite a bit longer than the short one."


class Tokens(View):
    @dataclass(frozen=True)
    class Choices(OfVocabulary):
        under: str = options([(name, name) for name in UNDER], "id", "Show under each token", elem_id="tokens-under")
        word: str = open_menu([HARDEST], "", "A word of the sentence", elem_id="tokens-word")
        own: str = words("", "or type your own", max_lines=1, elem_id="tokens-own")
        lines: str = words(
            BATCH_EXAMPLE, "Sentences to add to the batch, one per line", lines=3, elem_id="tokens-lines"
        )

    def lay_out(self, at: Layout) -> None:
        script = read_beside(__file__, "script.js")
        at["picture"] = gr.HTML("", js_on_load=script, elem_id="tokens-picture", elem_classes="picture")
        at.control("under")
        with fold(__file__, "trace", "Step by step: how a word is split"):
            with gr.Row():
                at.control("word")
                at.control("own")
            at["steps"] = gr.HTML("", elem_id="tokens-steps")
        with fold(__file__, "batch", "Padding: several sentences in one batch"):
            at.control("lines")
            at["padded"] = gr.HTML("", elem_id="tokens-padded")
        lay_out_vocabulary(at)
        with fold(__file__, "cased", "Cased and uncased"):
            at["cased"] = gr.HTML("", js_on_load=script)
        with fold(__file__, "others", "The same input with other tokenizers"):
            at["others"] = gr.HTML("", js_on_load=script)
        at.folds("Prints the tokens of the current input")

    @drawn("picture", by=("under",), at_once=True)
    def draw_picture(self, on: On, c: Choices) -> Shown:
        """The tokens, and what there is to say of these; with each key press."""
        services, sentence = on.services, on.sentence
        tokenizer, encoding, counts = _encoded(services, sentence)
        drawing = picture(encoding, counts, tokenizer.unk_token, c.under)
        if typed_mask := small_mask(sentence.text, sentence.text_pair):
            drawing += TEXT.small_mask(typed_mask)
        if typed := [encoding.tokens[place] for place in encoding.typed_special]:
            drawing += TEXT.typed_special(list(dict.fromkeys(typed)))
        drawing += TEXT.examples(encoding, tokens_of(encoding, "thanks for all"))
        spec = services.store.spec(services.key(sentence.model))
        if encoding.text_pair and not spec.segments:
            drawing += TEXT.no_segments()
        if spec.architecture not in WORDPIECE:
            drawing += TEXT.spaces(
                next((mark for mark in (BYTES, SENTENCE_PIECE) if mark in "".join(encoding.tokens)), BYTES)
            )
        elif any(token.startswith("##") for token in encoding.tokens):
            drawing += TEXT.continued()
        return {"picture": drawing}

    @drawn("steps", by=("word", "own"), limits=("word",))
    def draw_steps(self, on: On, c: Choices) -> Shown:
        """The steps that split a word, and the words to choose from; a chosen word stays if the sentence changes."""
        tokenizer, sentence = _tokenizer(on.services, on.sentence.model), on.sentence
        typed = [clean_text(sentence.text, "The sentence"), clean_text(sentence.text_pair, "The second sentence")]
        offers = list(dict.fromkeys(word for text in typed for word in chunks(tokenizer, text) if word))[:MAX_WORDS]
        target = c.own if c.own.strip() else c.word or hardest(tokenizer, offers)
        return {
            "steps": trace_figure(trace(tokenizer, clean_text(target, "The word"))),
            "word": limit(choices=[HARDEST, *((stretch[:60], stretch) for stretch in offers)]),
        }

    @drawn("kinds", "matches", "begun", "meaning", by=OF_VOCABULARY, reads_sentence=False)
    def draw_vocabulary(self, on: On, c: Choices) -> Shown:
        """The vocabulary's entries that match the search."""
        return searched(on, c)

    @drawn("others", by=(), pure=False)  # more models may come
    def draw_others(self, on: On, c: Choices) -> Shown:
        """The input under all tokenizers that are at hand."""
        return {"others": side_by_side(on.services, on.sentence)}

    @drawn(by=("lines",))
    def draw(self, on: On, c: Choices) -> Shown:
        """The batch, both cuts, the numbers and the program."""
        tokenizer, (text, pair) = _tokenizer(on.services, on.sentence.model), (on.sentence.text, on.sentence.text_pair)
        spec = on.services.store.spec(on.services.key(on.sentence.model))
        return {
            "padded": lambda: padded(tokenizer, (text, pair), c.lines),
            "cased": lambda: cased_html(on.services.store.tokenizer(BUNDLED), text, pair),
            "numbers": lambda: numbers_table(encode(tokenizer, text, pair)),
            "program": lambda: tokens_code(spec, encode(tokenizer, text, pair)),
        }


def build(page: Page) -> None:
    """The API's endpoint."""
    services = page.services

    def tokenize(text: str, text_pair: str = "", model: str = "") -> Json:
        """Tokens, ids, segments, word ids, character offsets and the special-tokens mask, as transformers gives them.

        Two things differ: the mask is 1 also for a special token that is typed in the text, such as [SEP], and [mask]
        in small letters is read as [MASK].
        text_pair may be empty; model is a catalogue key, empty for the default. Beyond 512 tokens the input is cut as
        transformers' truncation="longest_first" does, and "notice" says so.
        """
        return tokenized(encode(_tokenizer(services, model), text, text_pair))

    page.endpoint(tokenize)


def tokenized(encoding: Encoding) -> Json:
    """An encoding as the API returns it; "notice" is there only where something was cut."""
    result: Json = {
        "tokens": list(encoding.tokens),
        "input_ids": list(encoding.input_ids),
        "token_type_ids": list(encoding.token_type_ids),
        "word_ids": list(encoding.word_ids),
        "offsets": [list(span) for span in encoding.offsets],
        "special_tokens_mask": list(encoding.special_tokens_mask),
    }
    if notice := truncation_notice(encoding):
        result["notice"] = notice
    return result


def _tokenizer(services: Services, model: str) -> Any:
    return services.store.tokenizer(services.key(model))


def _encoded(services: Services, sentence: Sentence, model: str = "") -> tuple[Any, Encoding, Counts]:
    """The tokenizer, its encoding of what the bar holds, and the counts; needs no weights."""
    tokenizer = _tokenizer(services, model or sentence.model)
    encoding = encode(tokenizer, sentence.text, sentence.text_pair)
    return tokenizer, encoding, count(tokenizer, encoding)


def tokens_of(encoding: Encoding, words: str) -> int:
    """The number of tokens of the first occurrence of `words` (in any case) in the first sentence; 0 without one."""
    start = encoding.text.lower().find(words)
    spans = zip(encoding.offsets, encoding.sequence_ids, strict=True)
    inside = [first < start + len(words) and start < last for (first, last), segment in spans if segment == 0]
    return sum(inside) if start >= 0 else 0


def hardest(tokenizer: Any, words: list[str]) -> str:
    """The stretch of text with the word of the most pieces (a long web address is many words); "" where none is."""

    def pieces(stretch: str) -> int:
        word_ids = [word for word in encode(tokenizer, stretch).word_ids if word is not None]
        return max((word_ids.count(word) for word in set(word_ids)), default=0)

    return max(words[:MAX_RANKED], key=pieces, default="")


def padded(tokenizer: Any, texts: tuple[str, str], lines: str) -> Markup:
    """The batch of the bar's sentence and these lines. Raises UserError if one is too long."""
    more = [line for line in clean_text(lines, "The batch").splitlines() if line.strip()]
    inputs = [texts, *((line, "") for line in more)]
    encodings = [encode(tokenizer, *each, max_length=BATCH_DRAWN["tokens"]) for each in inputs[: BATCH_DRAWN["inputs"]]]
    cut = any(encoding.dropped for encoding in encodings)
    return batch_figure(pad(tokenizer, encodings), len(inputs), cut)


def side_by_side(services: Services, sentence: Sentence) -> str:
    """The input under every catalogue tokenizer on this machine; those that cut it alike share a row."""
    rows: dict[tuple[int, ...], tuple[list[str], Encoding, Counts]] = {}
    absent: list[str] = []
    for key, spec in services.store.catalogue.items():
        if not at_hand(spec):
            absent.append(spec.title)
            continue
        _, encoding, counts = _encoded(services, sentence, key)
        rows.setdefault(encoding.input_ids, ([], encoding, counts))[0].append(spec.title)
    return comparison(list(rows.values()), absent)


def answer(services: Services, sentence: Sentence) -> Answer:
    """The number of words, of cut words, of unknown words and of tokens."""
    tokenizer = services.loaded(sentence.model).tokenizer
    encoding = encode(tokenizer, sentence.text, sentence.text_pair)
    pieces = Counter(word for word in encoding.word_index if word is not None)
    return Answer(
        facts={
            "words": len(pieces),
            "cut": sum(count > 1 for count in pieces.values()),
            "unknown": encoding.tokens.count(tokenizer.unk_token),
            "tokens": len(encoding),
        }
    )


LESSON = Lesson(
    slug="tokens",
    order=1,
    tab="Tokens",
    question="How is text split into tokens?",
    look=(
        "A word in the vocabulary becomes one token. Type a rare or invented word and watch what becomes of it. The "
        "ids under the tokens are the model's input."
    ),
    view=Tokens(),
    build=build,
)

"""The Tokens lesson: word pieces as one types, each step of WordPiece, the padded batch and the vocabulary."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.model.batches.padding import pad
from demos.bert.model.catalogue import WORDPIECE
from demos.bert.model.encoding import BYTES, SENTENCE_PIECE, Encoding, encode, truncation_notice
from demos.bert.model.models import at_hand
from demos.bert.model.text import clean_text, small_mask
from demos.bert.tokens.counts import Counts, count
from demos.bert.tokens.wordpiece import chunks, trace
from demos.errors import UserError
from demos.figures.program import tokens_code
from demos.figures.token_chips import UNDER, comparison, numbers_table, picture
from demos.files import read_beside
from demos.lessons.tokens.cased import build_cased
from demos.lessons.tokens.figure import BATCH_DRAWN, TEXT, batch_figure, trace_figure
from demos.lessons.tokens.vocabulary import build_vocabulary
from demos.page.folds import fold, folds
from demos.page.lesson import Lesson, Page
from demos.page.services import Sentence, Services

MAX_WORDS = 200  # words of the sentence offered in the menu
MAX_RANKED = 60  # words looked at for the one with the most pieces
BATCH_EXAMPLE = "A short one.\nThis one is quite a bit longer than the short one."


def build(page: Page) -> None:
    """The picture and its control, then the folds, each laid out and wired by a separate function."""
    _build_picture(page)
    _build_trace(page)
    _build_batch(page)
    build_vocabulary(page)
    build_cased(page)
    _build_rest(page)
    services = page.services

    def tokenize(text: str, text_pair: str = "", model: str = "") -> dict[str, Any]:
        """Tokens, ids, segments, word ids, character offsets and the special-tokens mask, as transformers gives them.

        Two things differ: the mask is 1 also for a special token that is typed in the text, such as [SEP], and [mask]
        in small letters is read as [MASK].
        text_pair may be empty; model is a catalogue key, empty for the default. Beyond 512 tokens the input is cut as
        transformers' truncation="longest_first" does, and "notice" says so.
        """
        return tokenized(encode(_tokenizer(services, model), text, text_pair))

    page.endpoint(tokenize)


def tokenized(encoding: Encoding) -> dict[str, Any]:
    """An encoding as the API returns it; "notice" is there only where something was cut."""
    result: dict[str, Any] = {
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


def _build_picture(page: Page) -> None:
    services = page.services
    view = gr.HTML("", js_on_load=read_beside(__file__, "script.js"), elem_id="tokens-picture", elem_classes="picture")
    under = gr.Radio(list(UNDER), value="id", label="Show under each token", elem_id="tokens-under")
    page.keep(under=under)

    def show(sentence: Sentence, under: str) -> str:
        tokenizer, encoding, counts = _encoded(services, sentence)
        if under not in UNDER:
            raise UserError(f"The value shown under each token must be one of: {', '.join(UNDER)}.")
        drawn = picture(encoding, counts, tokenizer.unk_token, under)
        if typed_mask := small_mask(sentence.text, sentence.text_pair):
            drawn += TEXT.small_mask(typed_mask)
        if typed := [encoding.tokens[place] for place in encoding.typed_special]:
            drawn += TEXT.typed_special(list(dict.fromkeys(typed)))
        drawn += TEXT.examples(encoding, tokens_of(encoding, "thanks for all"))
        spec = services.store.spec(services.key(sentence.model))
        if encoding.text_pair and not spec.segments:
            drawn += TEXT.no_segments()
        if spec.architecture not in WORDPIECE:
            drawn += TEXT.spaces(
                next((mark for mark in (BYTES, SENTENCE_PIECE) if mark in "".join(encoding.tokens)), BYTES)
            )
        return drawn

    page.draw(show, [under], [view], at_once=True, show_progress="hidden")


def tokens_of(encoding: Encoding, words: str) -> int:
    """The number of tokens of the first occurrence of `words` (in any case) in the first sentence; 0 without one."""
    start = encoding.text.lower().find(words)
    spans = zip(encoding.offsets, encoding.sequence_ids, strict=True)
    inside = [first < start + len(words) and start < last for (first, last), segment in spans if segment == 0]
    return sum(inside) if start >= 0 else 0


def _build_trace(page: Page) -> None:
    services = page.services
    with fold(__file__, "trace", "Step by step: how a word is split") as shut:
        with gr.Row():
            word = gr.Dropdown(
                [("the word with the most pieces", "")],
                value="",
                label="A word of the sentence",
                allow_custom_value=True,  # the words on offer change with the sentence, the choice does not
                elem_id="tokens-word",
            )
            own = gr.Textbox("", label="or type your own", max_lines=1, elem_id="tokens-own")
        view = gr.HTML("", elem_id="tokens-steps")
    page.keep(word=word, own=own)

    def show(sentence: Sentence, word: str, own: str) -> tuple[Any, str]:
        tokenizer = _tokenizer(services, sentence.model)
        typed = [clean_text(sentence.text, "The sentence"), clean_text(sentence.text_pair, "The second sentence")]
        words = list(dict.fromkeys(word for text in typed for word in chunks(tokenizer, text) if word))[:MAX_WORDS]
        # A chosen word stays when the sentence moves on: what the menu shows is what is traced.
        target = own if (own or "").strip() else word or hardest(tokenizer, words)
        offers = [("the word with the most pieces", ""), *((stretch[:60], stretch) for stretch in words)]
        return gr.update(choices=offers), trace_figure(trace(tokenizer, clean_text(target, "The word")))

    page.within(shut).draw(show, [word, own], [word, view], show_progress="hidden")


def hardest(tokenizer: Any, words: list[str]) -> str:
    """The stretch of text with the word of the most pieces (a long web address is many words); "" where none is."""

    def pieces(stretch: str) -> int:
        word_ids = [word for word in encode(tokenizer, stretch).word_ids if word is not None]
        return max((word_ids.count(word) for word in set(word_ids)), default=0)

    return max(words[:MAX_RANKED], key=pieces, default="")


def _build_batch(page: Page) -> None:
    services = page.services
    with fold(__file__, "batch", "Padding: several sentences in one batch") as shut:
        lines = gr.Textbox(
            BATCH_EXAMPLE, label="Sentences to add to the batch, one per line", lines=3, elem_id="tokens-lines"
        )
        view = gr.HTML("", elem_id="tokens-padded")
    page.keep(lines=lines)

    def show(sentence: Sentence, lines: str) -> str:
        tokenizer = _tokenizer(services, sentence.model)
        more = [line for line in clean_text(lines, "The batch").splitlines() if line.strip()]
        inputs = [(sentence.text, sentence.text_pair), *((line, "") for line in more)]
        encodings = [
            encode(tokenizer, *texts, max_length=BATCH_DRAWN["tokens"]) for texts in inputs[: BATCH_DRAWN["inputs"]]
        ]
        cut = any(encoding.dropped for encoding in encodings)
        return batch_figure(pad(tokenizer, encodings), len(inputs), cut)

    page.within(shut).draw(show, [lines], [view], show_progress="hidden")


def _build_rest(page: Page) -> None:
    """Other tokenizers, the numbers, the formula, the code, the source."""
    services = page.services
    with fold(__file__, "others", "The same input with other tokenizers") as shut:
        others = gr.HTML("", js_on_load=read_beside(__file__, "script.js"))
    numbers, program = folds(__file__, "Prints the tokens of the current input")

    def show(sentence: Sentence) -> tuple[Any, Any]:
        encoding = encode(_tokenizer(services, sentence.model), sentence.text, sentence.text_pair)
        spec = services.store.spec(services.key(sentence.model))
        return lambda: numbers_table(encoding), lambda: tokens_code(spec, encoding)

    page.draw(show, [], [numbers, program], show_progress="hidden")
    shown = partial(side_by_side, services)
    page.within(shut).draw(shown, [], [others], show_progress="hidden", pure=False)  # more models may come


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


LESSON = Lesson(
    slug="tokens",
    order=1,
    tab="Tokens",
    question="How is text split into tokens?",
    look=(
        "A word in the vocabulary becomes one token. Any other word is split into pieces from the vocabulary, with ## "
        "before each piece that continues the word. A word that cannot be split in this way becomes [UNK]. Type a "
        "sentence and watch it being split: the ids under the tokens are the model's input."
    ),
    build=build,
)

"""The text that is written, each piece with its probability, and the distribution over the next one as bars."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from demos.bert.causal.decoder import WINDOW
from demos.bert.causal.writing import Candidate, LookedUp, Method, NextWord
from demos.bert.decoding.beam import Search
from demos.figures.numbers import percent
from demos.figures.token_chips import token_label, visible
from demos.lessons.family.program_decoder import DECODER
from demos.templates import templates

TEXT = templates(__file__)
CONTEXT = 6  # pieces of it that are named beside a word that is looked up
BEGINNING = 128  # pieces of the reader's text that are shown, the last ones
EQUAL = 5e-4  # log-probabilities that float32 alone makes differ


def text_html(tokens: Sequence[str], pieces: Sequence[Candidate], unread: int) -> str:
    """The reader's word pieces, then the written ones; `unread` is how many pieces the decoder no longer reads."""
    read = [{"text": visible(token.removeprefix("##")), "joined": token.startswith("##")} for token in tokens]
    cells = [
        {
            "text": visible(piece.guess.token.removeprefix("##")),
            "joined": piece.guess.token.startswith("##"),
            "chance": percent(piece.guess.probability),
            "share": 100 * piece.guess.probability,
        }
        for piece in pieces
    ]
    return TEXT.text(read[-BEGINNING:], max(0, len(read) - BEGINNING), cells, max(0, unread))


def next_html(prediction: NextWord, method: Method, largest: float) -> str:
    """The likeliest pieces as bars, the chosen one marked, with what is drawn from; the `largest` entropy is ln V."""
    widest = max(
        max(candidate.guess.probability, candidate.drawn if not method.greedy else 0.0) for candidate in prediction.best
    )
    return TEXT.next(prediction, not method.greedy, widest, largest, token_label, percent)


def looked_up_html(tokens: Sequence[str], steps: Sequence[LookedUp], words: int) -> str:
    """P(word | the text): its pieces' probabilities and ranks among `words`, and their product."""
    given = [(visible(token.removeprefix("##")), token.startswith("##")) for token in tokens[-CONTEXT:]]
    product = math.prod(step.guess.probability for step in steps)
    named = [(visible(step.guess.token.removeprefix("##")), step.guess.token.startswith("##")) for step in steps]
    odds = float(f"{1 / product:.2g}") if 0 < product < 0.001 else None  # a percentage says little of so rare a word
    return TEXT.looked_up(given, len(tokens) > CONTEXT, named, steps, product, odds, words, token_label, percent)


def writing_code(text: str, method: Method, count: int) -> str:
    """Writes `count` word pieces after `text`; a greedy text is the page's, a random one draws other numbers."""
    seed, steps, chosen = "", "", "logits.argmax()"
    if not method.greedy:
        sampling = method.sampling
        seed = f"generator = torch.Generator().manual_seed({method.seed})\n"
        steps = f"    logits = logits / {sampling.temperature:g}\n"
        if sampling.top_k:
            steps += f"    logits[logits < logits.topk({sampling.top_k}).values[-1]] = float('-inf')\n"
        if sampling.top_p < 1:
            steps += "    shares, order = logits.softmax(-1).sort(descending=True, stable=True)\n"
            steps += f"    logits[order[shares.cumsum(-1) - shares >= {sampling.top_p:g}]] = float('-inf')\n"
        chosen = "torch.multinomial(logits.softmax(-1), 1, generator=generator)"
    return f"""{DECODER}
ids = tokenizer({text!r})["input_ids"][:-1]  # without [SEP]: the text goes on
{seed}for _ in range({count}):
    read = ids if len(ids) <= {WINDOW} else [ids[0], *ids[{1 - WINDOW}:]]
    with torch.inference_mode():
        logits = model(torch.tensor([read]), use_cache=False).logits[0, -1]
{steps}    ids.append(int({chosen}))
print(tokenizer.convert_ids_to_tokens(ids[{-count}:]))
print(tokenizer.decode(ids[1:]))
"""


def search_code(text: str, width: int, length: int) -> str:
    """Beam search, written out: prints the page's texts with their log-probabilities."""
    return f"""{DECODER}
ids = tokenizer({text!r})["input_ids"][:-1]  # without [SEP]: the text goes on
beam = [(0.0, [])]  # log-probability, word pieces
for _ in range({length}):
    read = [ids + pieces for _, pieces in beam]
    read = [sequence if len(sequence) <= {WINDOW} else [sequence[0], *sequence[{1 - WINDOW}:]] for sequence in read]
    with torch.inference_mode():
        logits = model(torch.tensor(read), use_cache=False).logits[:, -1]
    totals = torch.tensor([[total] for total, _ in beam]) + logits.log_softmax(-1)  # of all continuations
    best, places = totals.flatten().topk({width})
    parents, pieces = places // logits.shape[-1], places % logits.shape[-1]
    beam = [(total.item(), [*beam[parent][1], int(piece)]) for total, parent, piece in zip(best, parents, pieces)]
for total, pieces in beam:
    print(f"{{total:.2f}}", tokenizer.decode(pieces))
"""


@dataclass(frozen=True)
class Text:
    """The text that one method wrote."""

    name: str  # the method's name; none for a further text of the beam
    tokens: Sequence[str]
    repeated: Sequence[bool]  # of each token
    log_probability: float

    @property
    def pieces(self) -> list[dict[str, object]]:
        """The tokens to show, each joined to the token before it if it continues that token's word."""
        shown = [self.tokens[0], *(token.removeprefix("##") for token in self.tokens[1:])]
        return [
            {"text": visible(text), "joined": text != token, "repeated": mark}
            for text, token, mark in zip(shown, self.tokens, self.repeated, strict=True)
        ]


def beams_html(texts: Sequence[Text]) -> str:
    """The greedy text, the beam's, the likeliest first, and the random one; and how the first two compare."""
    greedy, best = texts[0], texts[1]
    gain = best.log_probability - greedy.log_probability
    return TEXT.beams(texts, gain if abs(gain) > EQUAL else 0.0, math.exp(gain))


def candidates_html(result: Search, word: Callable[[int], str]) -> str:
    """The best candidates of each step as a table."""
    rows = [
        (at, [token_label(word(token)) for token in candidate.hypothesis.tokens], candidate)
        for at, step in enumerate(result.steps, start=1)
        for candidate in step
    ]
    return TEXT.candidates(rows)

"""A corrupted text: the original tokens, BERT's input instead of them, the loss of each prediction; and the program."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.bert.pretraining.corruption import Corruption, Shares
from demos.bert.pretraining.corruption_counts import Draws, Fit
from demos.bert.pretraining.lens import Distribution
from demos.bert.pretraining.unigrams import FILES, project_unigrams
from demos.figures.numbers import percent
from demos.figures.program import texts_of
from demos.figures.token_chips import hue_style, visible
from demos.lessons.pretraining.figure_kinds import KINDS, MARKS, NAMES
from demos.lessons.pretraining.program_lines import begin_lines, choose_lines
from demos.templates import templates

TEXT = templates(__file__)
SHOWN = 128  # tokens in the picture
SAMPLE = 12  # random words listed for each way of drawing them


def picture_html(
    encoding: Encoding, corruption: Corruption, read: Sequence[str], guesses: Mapping[int, Distribution]
) -> str:
    """The text's tokens above, what BERT reads below (`read`, n tokens), and under those with `guesses` their loss."""
    return TEXT.picture(
        tokens=[
            {
                "own": visible(token),
                "style": hue_style(encoding, place),
                "kind": corruption.kinds[place],
                "read": visible(read[place]),
                "loss": guesses[place].loss if place in guesses else None,
            }
            for place, token in enumerate(encoding.tokens[:SHOWN])
        ],
        names=NAMES,
        marks=MARKS,
        priced=bool(guesses),
        left=len(encoding) - SHOWN,
        left_chosen=(corruption.kinds[SHOWN:] > 0).sum(),
        dropped=len(encoding.dropped),
        length=len(encoding),
    )


def legend_html(corruption: Corruption, special: Sequence[int], target: Shares) -> str:
    """The number of chosen tokens, and the number of each kind beside its target share."""
    counts = np.bincount(corruption.kinds, minlength=4)[1:]
    kinds = _kinds(count=counts, share=target.kinds)
    return TEXT.legend(len(corruption.chosen), len(corruption.kinds), target.chosen, sum(special), kinds)


def rest_html(target: Shares) -> str:
    """The three shares as one bar; what the two sliders leave is kept."""
    return TEXT.rest(_kinds(share=target.kinds))


def answers_html(
    guesses: Mapping[int, Distribution], corruption: Corruption, read: Sequence[str], vocabulary: int
) -> str:
    """Every chosen token: its replacement, the best guess, the true token's probability, the loss; then the mean."""
    losses = [guess.loss for guess in guesses.values()]
    highest, mean = max(*losses, 1e-9), sum(losses) / len(losses)
    even = math.exp(min(mean, 700))
    return TEXT.answers(
        rows=[
            {"guess": guess, "kind": corruption.kinds[place], "read": read[place], "share": guess.loss / highest}
            for place, guess in guesses.items()
        ],
        names=NAMES,
        marks=MARKS,
        mean=mean,
        choices=f"{even:.1f}" if even < 100 else f"{even:,.0f}",
        vocabulary=vocabulary,
        blind=math.log(vocabulary),
        visible=visible,
        percent=percent,
    )


def shares_html(draws: Draws, kinds: Fit | None, places: Fit | None, whole_words: bool) -> str:
    """Both figures in words, with the p values and their meaning."""
    per_draw = (draws.kinds > 0).sum(axis=1)
    return TEXT.shares(
        draws=len(draws.kinds),
        length=len(draws.free),
        kinds=_kinds(count=draws.counts[-1], share=draws.running[-1]),
        free=draws.free.sum(),
        fewest=per_draw.min(),
        most=per_draw.max(),
        whole_words=whole_words,
        kinds_fit=kinds,
        places_fit=places,
    )


def numbers_html(draws: Draws, target: Shares, encoding: Encoding) -> str:
    """The kinds' counts beside what was expected, then each token's."""
    counts = np.stack([(draws.kinds == kind).sum(axis=0) for kind in (1, 2, 3)], axis=1)  # [n, 3]
    return TEXT.numbers(
        len(draws.kinds),
        _kinds(count=draws.counts[-1], share=draws.running[-1], target=target.kinds),
        [
            {"place": place, "name": encoding.tokens[place], "counts": counts[place]}
            for place in np.flatnonzero(draws.free)
        ],
    )


def random_words_html(tokenizer: Any, seed: int, by_frequency: bool) -> str:
    """Both ways to draw random words, a sample of each with this seed, and how they differ."""
    unigrams, size = project_unigrams(tokenizer), tokenizer.vocab_size
    samples = (
        np.random.default_rng(seed).integers(size, size=SAMPLE),
        unigrams.draw(np.random.default_rng(seed), SAMPLE),
    )
    return TEXT.random_words(
        by_frequency=by_frequency,
        samples=[[visible(token) for token in tokenizer.convert_ids_to_tokens(ids.tolist())] for ids in samples],
        vocabulary=size,
        unigrams=unigrams,
        files=", ".join(name.removesuffix(".tsv") for name in FILES),
    )


def _kinds(**values: Any) -> list[dict[str, object]]:
    """Name and mark of masked, random and kept, each with its entry of the values."""
    return [
        {"name": name, "mark": mark} | {key: value[number] for key, value in values.items()}
        for number, (name, mark, *_) in enumerate(KINDS)
    ]


def corrupt_code(
    spec: ModelSpec, encoding: Encoding, seed: int, shares: Shares, whole_words: bool, by_frequency: bool = False
) -> str:
    """Prints each chosen token, the token that replaces it in the input, and its loss; then the mean."""
    return f"""{"import csv" + chr(10) if by_frequency else ""}import numpy as np
{begin_lines(spec)}
inputs = tokenizer({texts_of(encoding)}, truncation=True, max_length={MAX_TOKENS}, return_tensors="pt")
ids = inputs["input_ids"][0].numpy()  # what is changed in it is changed in inputs
rng = np.random.default_rng({seed})
{choose_lines(shares, whole_words, by_frequency)}
with torch.inference_mode():
    states = encoder(**inputs).last_hidden_state[0, places]
    losses = torch.nn.functional.cross_entropy(head(states), torch.tensor(labels), reduction="none")
for place, label, loss in zip(places, labels.tolist(), losses.tolist()):
    print(place, *tokenizer.convert_ids_to_tokens([label, ids[place]]), round(loss, 4))
print("mean", round(losses.mean().item(), 4))
"""

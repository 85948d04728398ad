"""The pictures of a hidden word: every number where it belongs, hostile words only ever text."""

import math
import re

import numpy as np
import pytest

from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.context import Removal, Removals
from demos.bert.pretraining.guesses import Guess
from demos.bert.pretraining.lens import Distribution
from demos.bert.pretraining.likelihood import Likelihood
from demos.figures.numbers import percent
from demos.lessons.pretraining.fill_mask import figure, figure_context
from tests.one_line import on_one_line

sentence_html, best_html, summary_html, lens_html, numbers_html, removals_html, beside_html, likelihood_html = map(
    on_one_line,
    (
        figure.sentence_html,
        figure.best_html,
        figure.summary_html,
        figure.lens_html,
        figure.numbers_html,
        figure_context.removals_html,
        figure_context.beside_html,
        figure_context.likelihood_html,
    ),
)
EVIL = Guess("<img src=x>", 7, 0.5, 3.0)
SECOND = Guess("##sea", 8, 0.25, 2.0)
TRUE = Guess("sky", 9, 0.001, -1.0)


def one(*best: Guess, watched: Guess, rank: int, entropy: float = 3.0) -> Distribution:
    return Distribution(best, sum(guess.probability for guess in best), entropy, watched, rank)


@pytest.fixture(scope="module")
def encoding(tiny: LoadedModel) -> Encoding:
    return encode(tiny.tokenizer, "The unflappable <b> sang.")


def test_the_sentence_has_a_switch_for_each_word(encoding: Encoding) -> None:
    shown = sentence_html(encoding, [1, 7], 7, ["7.1234"], "[MASK]")
    marks = re.findall(r'data-mark="(\d+)\.(\d+)" aria-pressed="(\w+)"', shown)
    assert [(int(place), int(token)) for place, token, _ in marks] == list(enumerate(encoding.input_ids))[1:-1]
    assert [place for place, _, pressed in marks if pressed == "true"] == ["1", "7"]
    assert shown.count("[MASK]") == 2
    assert f"<small>{encoding.tokens[1]}</small>" in shown  # what is hidden there
    assert shown.count(" focus") == 1
    assert 'data-marks="7.1234"' in shown
    assert "<b>" not in shown
    assert "again to unmask" in shown
    assert "One word is masked as an example" in sentence_html(encoding, [1], 1, [], "[MASK]")


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (0.624, "62%"),
        (0.0312, "3.1%"),
        (0.0995, "10%"),
        (0.00122, "0.12%"),
        (0.001, "0.10%"),
        (0.00034, "0.034%"),
        (1e-9, "&lt;0.001%"),
        (1.0, "100%"),
    ],
)
def test_a_chance_has_two_digits_and_is_never_zero(chance: float, said: str) -> None:
    assert percent(chance) == said


def test_the_true_word_is_framed_or_added_below() -> None:
    below = best_html(one(EVIL, SECOND, watched=TRUE, rank=1234), known=True)
    assert "<img" not in below
    assert "&lt;img" in below
    assert re.findall(r"width:([\d.]+)%", below) == ["100.0", "50.0", "0.2"]
    assert re.findall(r'<span class="rank">([\d,]+)</span>', below) == ["1", "2", "1,234"]
    assert below.count('class="true"') == 1
    within = best_html(one(EVIL, SECOND, watched=SECOND, rank=2), known=True, widest=1.0)
    assert re.findall(r"width:([\d.]+)%", within) == ["50.0", "25.0"]
    assert re.findall(r'<li class="true" value="(\d)"', within) == ["2"]
    assert "true" not in best_html(one(EVIL, SECOND, watched=EVIL, rank=1), known=False)


def test_what_is_told_of_a_distribution() -> None:
    told = summary_html(one(EVIL, SECOND, watched=TRUE, rank=1234, entropy=math.log(32)), 4, True, 1024)
    assert "Token 4 was <q><bdi>sky</bdi></q>: rank <b>1,234</b> of 1,024, probability <b>0.10%</b>" in told
    assert "<b>3.5</b> of at most 6.9 nats" in told
    assert "the same as for 32 equally likely words" in told
    assert "The top 2 words together have a probability of <b>75%</b>" in told
    guessed = summary_html(one(EVIL, SECOND, watched=EVIL, rank=1), 4, False, 1024)
    assert "best guess <q><bdi>&lt;img src=x&gt;</bdi></q>, <b>50%</b>" in guessed


def test_the_layers_rank_one_word() -> None:
    layers = [one(EVIL, SECOND, watched=SECOND, rank=rank) for rank in (4000, 2, 1, 1)]
    table = lens_html(layers, known=True)
    assert re.findall(r'<td class="rank"><b>([\d,]+)</b>', table) == ["4,000", "2", "1", "1"]
    assert re.findall(r'<th scope="row">(.*?)</th>', table) == ["embeddings", "layer 1", "layer 2", "layer 3"]
    assert "has rank 1 from layer 2 on" in table
    assert re.findall(r"--share:(\d+)%", table) == ["50", "25"] * 4
    assert table.count('class="true"') == 4
    assert "<img" not in table
    never = lens_html([one(EVIL, watched=TRUE, rank=rank) for rank in (9, 3, 5)], known=True)
    assert "has rank 5 at the last layer. Its best rank is 3, at layer 1" in never
    assert "Its best rank" not in lens_html([one(EVIL, watched=TRUE, rank=rank) for rank in (9, 5)], known=True)
    numbers = numbers_html(layers[-1], layers)
    assert "<td>0.50000</td><td>0.50000</td>" in numbers
    assert "<td>0.25000</td><td>0.75000</td>" in numbers
    assert numbers.count("<td>3.000</td>") == 5  # a logit, and the entropy of four states
    assert "<img" not in numbers


def test_what_a_word_does(encoding: Encoding) -> None:
    each = (
        Removal((1,), "the", np.array([0.5, 0.2]), "<i>"),
        Removal((2, 3, 4, 5), "unflappable", np.array([0.1, 0.3]), "sea"),
        Removal((6,), "<", np.array([0.70002, 0.1]), "sky"),
    )
    found = Removals(encoding, 7, ("sky", "sea"), np.array([0.7, 0.1]), "sky", each)
    shown = removals_html(found)
    assert (
        "The prediction <q><bdi>sky</bdi></q> depends most on <q>unflappable</q>. Without this word, its probability "
        "falls from 70% to <b>10%</b>" in shown
    )
    cells = re.findall(r'fill-cell (\w+)" style="--share:(\d+)%"><span>.*?</span><small>(.*?)</small>', shown)
    assert cells == [("falls", "33", "−20.0"), *[("falls", "100", "−60.0")] * 4, ("rises", "0", "0.0")]
    assert shown.count("fill-cell place") == len(encoding) - 2 - 6
    assert re.findall(r"<td>([\d.]+%)</td>", shown) == ["70%", "10%", "50%", "20%", "10%", "30%", "70%", "10%"]
    assert "<i>" not in shown
    helps = Removals(encoding, 7, ("sky",), np.array([0.1]), "sky", (Removal((1,), "the", np.array([0.2]), "sky"),))
    assert "No word makes" in removals_html(helps)


def test_two_contexts_share_one_measure() -> None:
    here, there = one(EVIL, SECOND, watched=EVIL, rank=1), one(SECOND, watched=EVIL, rank=3)
    shown = beside_html(("<b>A</b>", here), ("B", there), "")
    assert re.findall(r"width:([\d.]+)%", shown) == ["100.0", "50.0", "50.0", "100.0"]
    assert "&lt;b&gt;A" in shown
    assert "<img" not in shown


def test_likelihood_on_the_tokens(encoding: Encoding) -> None:
    places = tuple(range(1, len(encoding) - 1))
    known = -np.linspace(0.5, 4.0, len(places))
    done = likelihood_html(Likelihood(encoding, places, known))
    assert f"PLL <b>−{-known.sum():.2f}</b>" in done
    assert f"pseudo-perplexity <b>{np.exp(-known.mean()):.1f}</b>" in done
    assert re.findall(r"<small>(.*?)</small>", done) == [f"−{-value:.2f}" for value in known]
    assert re.findall(r"--share:(\d+)%", done)[-1] == "100"
    assert f"<q>{encoding.tokens[places[-1]]}</q>, with a probability of 1.8%" in " ".join(done.split())
    assert "<b>" not in re.sub(r"<b>[\d.−]+</b>", "", done)
    part = likelihood_html(Likelihood(encoding, places, known[:3]))
    assert f"3 of {len(places)} tokens" in part
    assert part.count("<small>…</small>") == len(places) - 3

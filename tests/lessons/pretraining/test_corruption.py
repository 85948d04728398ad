"""The corruption machine on a tiny model with real heads: the page, its program and transformers give one number."""

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.corruption import Corruption
from demos.bert.pretraining.unigrams import project_unigrams
from demos.errors import UserError
from demos.lessons.pretraining.corruption.part import OPENING, CorruptText, Setup
from demos.page.services import Sentence, Services
from demos.page.view import On
from tests.page.tiny_store import TinyStore
from tests.programs import printed
from tests.shown_values import shown_values

BAR = Sentence("The lark sang.", "", "tiny")


@pytest.fixture(scope="module")
def whole(tiny: LoadedModel) -> BertForMaskedLM:
    torch.manual_seed(3)
    model = BertForMaskedLM(tiny.model.config).eval()
    torch.nn.init.normal_(model.cls.predictions.bias)
    return model.requires_grad_(False)


@pytest.fixture(scope="module")
def services(tiny: LoadedModel, whole: BertForMaskedLM, tmp_path_factory: pytest.TempPathFactory) -> Services:
    folder = tmp_path_factory.mktemp("heads")
    whole.save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    spec = replace(tiny.spec, mlm=True, hub_id=str(folder), revision="main")
    return Services(TinyStore(LoadedModel(spec, tiny.tokenizer, whole.bert), folder), "tiny")


def shown(services: Services, sentence: Sentence = BAR, **said: Any) -> dict[str, Any]:
    return shown_values(CorruptText().shown(services, sentence, **said))


def setup(services: Services, **said: Any) -> Setup:
    on = On(services, BAR)
    return Setup.of(on, CorruptText().read(on, said))


def corruption_of(services: Services, **said: Any) -> Corruption:
    drawn = setup(services, **said)
    return drawn.corrupted(drawn.generator())


def test_it_opens_on_all_three_kinds(services: Services) -> None:
    assert 40 <= len(OPENING.split()) <= 60
    assert set(corruption_of(services).kinds) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("text", "whole_words", "way"),
    [
        (OPENING, False, "uniform"),
        (OPENING, False, "unigram"),
        ('Say "hi"\\n{x} unflappably & go.', True, "uniform"),
    ],
)
def test_the_losses_are_transformers_own_and_the_programs(
    services: Services, whole: BertForMaskedLM, text: str, whole_words: bool, way: str
) -> None:
    chosen: dict[str, Any] = {
        "corrupt_text": text, "corrupt_seed": 5, "chosen": 30, "masked": 60, "replaced": 20, "whole": whole_words,
        "random_words": way,
    }  # fmt: skip
    outputs = shown(services, **chosen)
    corruption = corruption_of(services, **chosen)
    theirs = whole(torch.tensor(corruption.input_ids)[None], labels=torch.tensor(corruption.labels)[None]).loss.item()
    assert f"<b>{theirs:.2f}</b><span>mean loss of the {len(corruption.chosen)}" in outputs["answers"]
    *lines, mean = printed(outputs["program"])
    assert float(mean.split()[1]) == pytest.approx(theirs, abs=1e-3)
    assert [int(line.split()[0]) for line in lines] == corruption.chosen.tolist()
    read = services.store.tokenizer("tiny").convert_ids_to_tokens(corruption.input_ids[corruption.chosen].tolist())
    assert [line.split()[2] for line in lines] == read
    losses = re.findall(r'class="corruption-loss">([\d.]+)<', outputs["picture"])
    assert [float(cost) for cost in losses] == pytest.approx([float(line.split()[3]) for line in lines], abs=6e-3)


def test_the_third_share_follows_and_bounds_hold(services: Services) -> None:
    outputs = shown(services, masked=95)
    assert outputs["replaced"] == {"value": 5}
    assert "<b>0%</b>" in outputs["rest"]
    assert shown(services)["replaced"] == {"value": 10}
    bounds = {"corrupt_seed": 0, "chosen": 1, "masked": 100, "replaced": 0}
    beyond = {"corrupt_seed": -3, "chosen": 0, "masked": 120, "replaced": None}
    assert setup(services, **beyond) == setup(services, **bounds)
    assert setup(services, corrupt_seed=1e30, chosen=400).seed < 2**32
    again = [shown(services, corrupt_seed=seed)["picture"] for seed in (7, 7, 8)]
    assert again[0] == again[1] != again[2]


def test_an_empty_box_means_the_bar_and_nothing_at_all_is_one_sentence(services: Services) -> None:
    assert setup(services, corrupt_text=" \n").encoding == encode(services.store.tokenizer("tiny"), BAR.text)
    with pytest.raises(UserError, match="no word to choose"):
        shown(services, replace(BAR, text=""), corrupt_text="")
    for text in ("\U0001f600" * 30, "<script>alert(1)</script> ${x}", "word " * 3_000, "[MASK] x"):
        outputs = shown(services, corrupt_text=text)
        assert "<script>" not in outputs["picture"] + outputs["legend"]
    with pytest.raises(UserError, match="limit is 20,000"):
        setup(services, corrupt_text="x" * 20_001)


def test_many_draws_begin_with_the_one_shown(services: Services) -> None:
    outputs = shown(services, draws=1_000)
    kinds = corruption_of(services).kinds
    first = [(kinds == kind).sum() / (kinds > 0).sum() for kind in (1, 2, 3)]
    lines = [trace for trace in outputs["shares"].data if trace.name]
    assert [line.y[0] for line in lines] == pytest.approx(first)
    assert [line.y[-1] for line in lines] == pytest.approx([0.8, 0.1, 0.1], abs=0.02)
    assert len(outputs["places"].data[0].y) == len(kinds) - 2
    assert outputs["said"].count("p = ") == 2
    assert "over 1,000 draws" in outputs["numbers"]
    assert "in 100 draws" in shown(services, draws=10**9)["said"]


def test_a_model_without_heads_still_shows_what_is_chosen(services: Services, tiny: LoadedModel) -> None:
    bare = Services(TinyStore(tiny, Path()), "tiny")
    outputs = shown(bare)
    assert "has no masked-word head" in outputs["answers"]
    assert "■ masked" in outputs["picture"]
    assert outputs["program"] == ""


def test_both_ways_to_draw_random_words_are_shown_and_told_apart(services: Services) -> None:
    tokenizer = services.store.tokenizer("tiny")
    by_seed: list[str] = []
    for way, name in (("uniform", "uniformly"), ("unigram", "by frequency")):
        outputs = shown(services, corrupt_seed=7, random_words=way)
        by_seed.append(outputs["picture"])
        said = " ".join(html.unescape(outputs["way"]).split())
        assert f"now it is drawn <b>{name}</b>." in said
    assert by_seed[0] != by_seed[1]  # another word at the same place
    unigrams = project_unigrams(tokenizer)
    drawn = unigrams.draw(np.random.default_rng(7), 12)
    assert ", ".join(tokenizer.convert_ids_to_tokens(drawn.tolist())) in said
    assert f"{(unigrams.counts == 0).mean():.0%} of the vocabulary does not occur in the texts" in said
    shares = sorted(unigrams.counts / unigrams.counts.sum(), reverse=True)
    half = next(count for count in range(1, 10_000) if sum(shares[:count]) >= 0.5)
    assert f"one of only {half} entries" in said
    assert f"{unigrams.counts.sum():,} tokens" in said
    assert len(outputs["program"].split("csv.DictReader")) == 2

"""Fill the mask: which words are hidden, what its handlers fill against transformers' own, its programs run."""

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM, pipeline

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.pretraining.heads import Pretrained, PretrainedModels
from demos.errors import UserError
from demos.lessons.pretraining.fill_mask.figure import fill_code
from demos.lessons.pretraining.fill_mask.part import (
    EXAMPLES,
    Filler,
    FillMask,
    answer,
    compared,
    fill_endpoint,
    removed,
)
from demos.lessons.pretraining.fill_mask.places import gaps, with_gap
from demos.page.services import Sentence, Services
from tests.one_line import one_line
from tests.programs import printed
from tests.shown_values import with_values

view = with_values(FillMask().shown)

TEXT = "The old miller counted his sacks."


@pytest.fixture(scope="module")
def whole(tiny: LoadedModel) -> BertForMaskedLM:
    torch.manual_seed(5)
    model = BertForMaskedLM(tiny.model.config).eval().requires_grad_(False)
    model.set_attn_implementation("eager")
    torch.nn.init.normal_(model.cls.predictions.decoder.weight, std=0.6)
    return model


@pytest.fixture(scope="module")
def filler(store: ModelStore, tiny: LoadedModel, whole: BertForMaskedLM) -> Filler:
    """The page's services with tiny random heads in the place of ours."""
    predictions = whole.cls.predictions
    spec = replace(tiny.spec, hub_id="them/tiny", revision="main")
    found = Pretrained(
        LoadedModel(spec, tiny.tokenizer, whole.bert), predictions.transform, predictions.decoder, None, None, {}
    )

    class Heads(PretrainedModels):
        def get(self, *_: Any) -> Pretrained:
            return found

    return Services(store, "minilm", heads=Heads()).shared(Filler)


@pytest.fixture(scope="module")
def ours(store: ModelStore) -> Filler:
    """The bundled model with our heads."""
    return Services(store, "minilm").shared(Filler)


def shown(filler: Filler, sentence: Sentence, marks: str, top: Any, other: str = "") -> dict[str, Any]:
    return dict(view(filler.services, sentence, mask=marks, top=top, other=other))


def mark(text: str, tokenizer: Any, *places: int) -> str:
    encoding = encode(tokenizer, text)
    return ", ".join(f"{place}.{encoding.input_ids[place]}" for place in places)


def test_clicked_typed_or_picked(tiny: LoadedModel, ours: Filler) -> None:
    tokenizer = tiny.tokenizer
    encoding = encode(tokenizer, TEXT)
    picked = gaps(tokenizer, encoding)
    assert (picked.places, picked.focus, picked.marks) == ((4,), 4, ())
    assert picked.truth == encoding.input_ids[4]
    clicked = gaps(tokenizer, encoding, mark(TEXT, tokenizer, 5, 2))
    assert (clicked.places, clicked.focus) == ((2, 5), 5)
    assert [clicked.hidden.tokens[place] for place in (2, 5)] == ["[MASK]"] * 2
    assert clicked.whole == encoding
    copied = shown(ours, Sentence(TEXT, "", "minilm"), mark(TEXT, tokenizer, 5, 2), 5)["copied"]
    assert copied == with_gap(clicked, "[MASK]") == "The [MASK] miller counted [MASK] sacks."
    own = encode(tokenizer, "The [mask] miller counted [MASK].", "A [Mask] too.")
    assert [token for token in own.tokens if token == "[MASK]"] == ["[MASK]"] * 3
    typed = gaps(tokenizer, own, "3.0, 1.<script>, 99999.9, 400.5, 0.101")  # of no token here, or of [CLS]
    assert (typed.focus, typed.truth, typed.marks) == (2, None, ())
    assert len(typed.places) == 3
    both = gaps(tokenizer, own, f"3.{own.input_ids[3]}")
    assert both.focus == 3
    assert len(both.places) == 4
    assert gaps(tokenizer, encode(tokenizer, "?!")).focus == 1
    for text in (" ", "[SEP] [CLS]"):
        with pytest.raises(UserError, match="no word to mask"):
            gaps(tokenizer, encode(tokenizer, text))
        with pytest.raises(UserError, match="no word to mask"):
            answer(ours.services, Sentence(text, "", "minilm"))
    with pytest.raises(UserError, match="The sentence has 20,001 characters"):
        encode(tokenizer, "x" * 20_001)


def test_a_mask_in_small_letters_is_one_mask_and_the_page_says_so(ours: Filler, store: ModelStore) -> None:
    typed, written = "The capital of France is [mask].", "The capital of France is [MASK]."
    assert encode(store.tokenizer("minilm"), typed).tokens.count("[MASK]") == 1
    small, large = (shown(ours, Sentence(text, "", "minilm"), "", 5) for text in (typed, written))
    assert "“[mask]” is read as [MASK]." in small["said"]
    assert small["said"].startswith(large["said"].strip())
    assert {name: value for name, value in small.items() if name != "said"} == {
        name: value for name, value in large.items() if name != "said"
    }
    assert fill_endpoint(ours.services)(typed) == fill_endpoint(ours.services)(written)


def test_the_picture_holds_the_models_own_numbers(filler: Filler, whole: BertForMaskedLM, tiny: LoadedModel) -> None:
    marks = mark(TEXT, tiny.tokenizer, 4, 2)
    outputs = shown(filler, Sentence(TEXT, "", "minilm"), marks, 7)
    ids = torch.tensor([encode(tiny.tokenizer, TEXT).input_ids])
    truth = int(ids[0, 4])
    ids[0, [2, 4]] = tiny.tokenizer.mask_token_id
    chances = whole(ids).logits[0, 4].softmax(-1)
    top = chances.topk(7)
    rows = re.findall(r"<td><bdi>(.*?)</bdi></td>|<td>(?:<span.*?</span><bdi>)(.*?)</bdi></td>", outputs["numbers"])
    tokens = tiny.tokenizer.convert_ids_to_tokens(top.indices.tolist())
    assert ["".join(row) for row in rows] == [token.removeprefix("##") for token in tokens]
    for chance in top.values.tolist():
        assert f"<td>{chance:.5f}</td>" in outputs["numbers"]
    rank = 1 + int((chances > chances[truth]).sum())
    assert f"Token 4 was <q><bdi>counted</bdi></q>: rank <b>{rank:,}</b> of 30,522" in one_line(outputs["said"])
    assert re.findall(r'<td class="rank"><b>([\d,]+)</b>', outputs["layers"])[-1] == f"{rank:,}"
    assert outputs["chips"].count('aria-pressed="true"') == 2
    assert outputs["best"].count("<li") == 9  # seven, and the true word below
    for bad in (None, 0, 1e9):
        assert shown(filler, Sentence(TEXT, "", "minilm"), "", bad)["said"]


def test_the_endpoint_is_transformers_own_pipeline(filler: Filler, whole: BertForMaskedLM, tiny: LoadedModel) -> None:
    fill_mask = fill_endpoint(filler.services)
    text = "The [MASK] miller counted his [MASK]."
    theirs = pipeline("fill-mask", model=whole, tokenizer=tiny.tokenizer, top_k=6, device="cpu")(text)
    mine = fill_mask(text, 6)
    assert mine["tokens"] == list(encode(tiny.tokenizer, text).tokens)
    for one, other in zip(mine["masks"], theirs, strict=True):
        assert mine["tokens"][one["place"]] == "[MASK]"
        assert [word["token"] for word in one["words"]] == tiny.tokenizer.convert_ids_to_tokens(
            [word["token"] for word in other]
        )
        np.testing.assert_allclose(
            [word["probability"] for word in one["words"]], [word["score"] for word in other], rtol=1e-3
        )
    assert "notice" not in mine
    assert "were removed" in fill_mask("[MASK] " + "sand " * 600)["notice"]
    for arguments, said in (
        (("No gap.",), "no \\[MASK\\]"),
        (("[MASK] " * 17,), "17 \\[MASK\\]s; the limit is 16"),
        (("[MASK]", 0), "from 1 to 100"),
        (("[MASK]", "5"), "whole number"),
        (("[MASK]", 5, "nope"), "There is no model 'nope'"),
    ):
        with pytest.raises(UserError, match=said):
            fill_mask(*arguments)  # type: ignore[arg-type]


def test_context_and_comparison(filler: Filler, whole: BertForMaskedLM, tiny: LoadedModel) -> None:
    sentence = Sentence(TEXT, "", "minilm")
    marks = mark(TEXT, tiny.tokenizer, 4)
    words = re.findall(r'<tr><th scope="row">(.*?)</th>', [*removed(filler, TEXT, "", "minilm", marks)][-1])
    assert words == ["the", "old", "miller", "his", "sacks", "."]
    other = "She [MASK] her <b>[MASK]</b>."
    ids = torch.tensor([encode(tiny.tokenizer, other).input_ids])
    place = ids[0].tolist().index(103)
    beside = shown(filler, sentence, marks, 5, other)["beside"]
    best = tiny.tokenizer.convert_ids_to_tokens(whole(ids).logits[0, place].topk(5).indices.tolist())
    there = beside.rpartition("<h4>")[2]
    assert re.findall(r"<bdi>(.*?)</bdi>", there)[:5] == [token.removeprefix("##") for token in best]
    assert "counted" in there  # the same word is watched in both
    assert "<b>[MASK]" not in beside
    assert compared(filler, sentence, marks, " ") == ""
    # the second gap here is held against the second there
    second = compared(filler, sentence, mark(TEXT, tiny.tokenizer, 6, 4), other)
    place = len(ids[0]) - 1 - ids[0].tolist()[::-1].index(103)
    best = tiny.tokenizer.convert_ids_to_tokens(whole(ids).logits[0, place].topk(5).indices.tolist())
    assert re.findall(r"<bdi>(.*?)</bdi>", second.rpartition("<h4>")[2])[:5] == [
        token.removeprefix("##") for token in best
    ]


@pytest.mark.parametrize("side", [0, 1])
def test_of_a_pair_the_sentence_that_is_looked_at_is_compared(
    filler: Filler, whole: BertForMaskedLM, tiny: LoadedModel, side: int
) -> None:
    pair, other = ["Which city did you visit?", "We spent a week there."], "They saw [MASK] again."
    pair[side] = pair[side].replace("city", "[MASK]").replace("week", "[MASK]")
    sentence = Sentence(*pair, "minilm")
    shown_ = compared(filler, sentence, "", other)
    changed = [other if number == side else text for number, text in enumerate(pair)]
    ids = tiny.tokenizer(*changed, return_tensors="pt")
    place = ids["input_ids"][0].tolist().index(103)
    best = tiny.tokenizer.convert_ids_to_tokens(whole(**ids).logits[0, place].topk(5).indices.tolist())
    assert re.findall(r"<bdi>(.*?)</bdi>", shown_.rpartition("<h4>")[2])[:5] == [
        token.removeprefix("##") for token in best
    ]
    again = compared(filler, sentence, "", with_gap(filler.gaps(sentence, ""), "[MASK]"))  # the copy, unchanged
    here, there = (re.findall(r"\d[\d.]*%", part) for part in again.split("<h4>")[1:])
    assert here == there
    picked = compared(filler, sentence, "", "A walk by the river in winter.")  # no gap: it gets one on its own side
    assert "[MASK]" in re.sub("<.*?>", "", picked.rpartition("<h4>")[2])


def test_in_a_long_text_the_hidden_word_is_one_that_is_seen(filler: Filler) -> None:
    sentence = Sentence("a river and some old stones lie here . " * 40, "", "minilm")
    assert filler.gaps(sentence, "").focus < 128
    late = Sentence("a river " * 70 + "[MASK]", "", "minilm")
    assert "token, at position 141, is one of them" in shown(filler, late, "", 6)["chips"]


def test_the_programs_print_these_numbers(
    ours: Filler, filler: Filler, whole: BertForMaskedLM, tiny: LoadedModel, tmp_path: Path
) -> None:
    whole.save_pretrained(tmp_path)
    tiny.tokenizer.save_pretrained(tmp_path)
    sentence = Sentence('Say "hi" {now}, miller.', "It rained.", "minilm")
    for one, source in ((filler, f"{str(tmp_path)!r}, None"), (ours, "")):
        code = shown(one, sentence, "", 6)["program"]
        if source:
            assert "'them/tiny', 'main'" in code
            code = code.replace("'them/tiny', 'main'", source)
        *lines, firsts = printed(code)
        layers = one.layers("minilm", one.gaps(sentence, ""), 6)
        words = [line.rsplit(" ", 1) for line in lines]
        assert [word for word, _ in words] == [guess.token for guess in layers[-1].best]
        np.testing.assert_allclose(
            [float(chance) for _, chance in words], [guess.probability for guess in layers[-1].best], atol=2e-5
        )
        assert ast.literal_eval(firsts) == [layer.best[0].token for layer in layers]
        assert "pipeline" not in code  # it takes one text, and no segments
    distil = replace(filler.pretrained("minilm").encoder.spec, segments=False)
    assert "vocab_projector" in fill_code(distil, encode(tiny.tokenizer, TEXT), [2], 2, 5)


@pytest.mark.parametrize("also", [(), (2,), (7,)])  # hidden beside the sentence's own, and looked at
def test_the_programs_pipeline_gives_the_page_s_guesses(
    ours: Filler, filler: Filler, whole: BertForMaskedLM, tiny: LoadedModel, tmp_path: Path, also: tuple[int, ...]
) -> None:
    whole.save_pretrained(tmp_path)
    tiny.tokenizer.save_pretrained(tmp_path)
    sentence = Sentence("A walk by the [MASK] in winter.", "", "minilm")
    marks = mark(sentence.text, tiny.tokenizer, *also)
    for one in (filler, ours):
        code = shown(one, sentence, marks, 6)["program"].replace("'them/tiny', 'main'", f"{str(tmp_path)!r}, None")
        assert 'pipeline("fill-mask"' in code
        last = one.layers("minilm", one.gaps(sentence, marks), 6)[-1]
        lines = printed(code)[len(last.best) + 1 :]
        assert [line.rsplit(" ", 1)[0] for line in lines] == [guess.token for guess in last.best]
        np.testing.assert_allclose(
            [float(line.rsplit(" ", 1)[1]) for line in lines], [guess.probability for guess in last.best], atol=2e-5
        )


def test_the_sentences_to_try(ours: Filler, tiny: LoadedModel) -> None:
    assert "we spent a week in [mask], the capital of france." in {example.text.lower() for example in EXAMPLES}
    for text, other in ((example.text, example.other) for example in EXAMPLES):
        assert (
            encode(tiny.tokenizer, text).tokens.count("[MASK]")
            == encode(tiny.tokenizer, other).tokens.count("[MASK]")
            == 1
        )
        assert "best guess" in shown(ours, Sentence(text, "", "minilm"), "", 10)["said"]
        assert compared(ours, Sentence(text, "", "minilm"), "", other).count("<h4>") == 2

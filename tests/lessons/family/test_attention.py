"""Attention, model by model: its three matrices, what is said of them, and its programs."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from demos.bert.family.family_store import FamilyStore
from demos.bert.family.members import AGREEMENT, MEMBERS, OUR_DECODER, TRANSLATOR
from demos.bert.model.catalogue import BUNDLED
from demos.bert.translation.transformer_places import CROSS, DECODER, ENCODER
from demos.errors import UserError
from demos.lessons.family.attention import part
from demos.lessons.family.attention.figure import attention_code
from demos.lessons.family.attention.part import Attention, read
from demos.page.services import Sentence, Services
from demos.page.view import On
from tests.bert.family.tiny_family import KINDS, member, write
from tests.programs import printed
from tests.shown_values import shown_values

VIEW, BAR = Attention(), Sentence("", "", BUNDLED)


@pytest.fixture(scope="module")
def show(services: Services) -> Callable[..., dict[str, Any]]:
    def show(key: str, kind: str, source: str = AGREEMENT, target: str = "", **changes: Any) -> dict[str, Any]:
        chosen = {"family_model": key, "attention": kind, "source": source, "target": target} | changes
        return shown_values(VIEW.shown(services, BAR, **chosen))

    return show


def test_three_kinds_are_three_pictures(show: Callable[..., dict[str, Any]]) -> None:
    frames = {kind: json.loads(show(TRANSLATOR, kind)["frame"]) for kind in (ENCODER, DECODER, CROSS)}
    n, m = (len(frames[kind]["tokens"]) for kind in (ENCODER, DECODER))
    assert (n, m) == (13, 15)
    assert len({frame["key"] for frame in frames.values()}) == 3
    assert [len(frame["columns"]["tokens"]) if "columns" in frame else 0 for frame in frames.values()] == [0, 0, n]
    assert len(frames[CROSS]["tokens"]) == m
    assert frames[CROSS]["heads"] is None  # all


def test_what_is_said_is_computed(show: Callable[..., dict[str, Any]], services: Services) -> None:
    assert "<b>0%</b> of all attention goes to later tokens" in show(OUR_DECODER, CROSS)["said"]
    later = read(services, MEMBERS[BUNDLED], AGREEMENT, "").kinds[ENCODER].later
    assert f"<b>{later:.0%}</b> of all attention" in re.sub(r"\s+", " ", show(BUNDLED, CROSS)["said"])
    cross = show(TRANSLATOR, CROSS)["said"]
    assert "<b>zone</b> ← area" in cross
    assert "wrote the target text itself" in cross
    typed = show(TRANSLATOR, CROSS, target="l'accord a été signé.")
    assert "is yours" in re.sub(r"\s+", " ", typed["said"])
    assert json.loads(typed["frame"])["tokens"] == ["<s>", "l'", "accord", "a", "été", "signé", "."]


@pytest.mark.parametrize("key", [TRANSLATOR, OUR_DECODER, BUNDLED])
def test_the_program_prints_what_is_read_most(key: str, services: Services, show: Callable[..., Any]) -> None:
    reading = read(services, MEMBERS[key], AGREEMENT, "")
    kind = list(reading.kinds)[-1]
    attention = reading.kinds[kind]
    lines = printed(show(key, kind)["program"])
    wanted = zip(attention.rows.names, attention.most_read(1), strict=True)
    for line, (row, (column, weight)) in zip(lines, wanted, strict=False):
        name, most, share = line.rsplit(" ", 2)
        assert (name, most) == (row, attention.columns.names[column])
        assert float(share) == pytest.approx(weight, abs=2e-4)
    assert len(lines) >= len(attention.rows)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("target", ["", "un café"])
def test_a_hub_member_s_program_runs(kind: str, target: str, tmp_path: Path) -> None:
    model, tokenizer = write(kind, tmp_path / kind)
    one = member(kind)
    if target and CROSS not in one.kinds:
        return
    from demos.bert.family.attentions import of_both_stacks, of_one_stack

    model.set_attn_implementation("eager")
    texts = ("The agreement was signed.", target) if CROSS in one.kinds else ("The agreement was signed.",)
    reading = (of_both_stacks if CROSS in one.kinds else of_one_stack)(one, model, tokenizer, *texts)
    name = list(reading.kinds)[-1]
    program = attention_code(one, name, 1, texts[0], reading)
    assert f"name, revision = {one.hub_id!r}, {one.revision!r}" in program
    lines = printed(program.replace(repr(one.hub_id), repr(str(tmp_path / kind))))
    attention = reading.kinds[name]
    shares = [float(line.rsplit(" ", 1)[1]) for line in lines[: len(attention.rows)]]
    assert shares == pytest.approx([share for _, share in attention.most_read(1)], abs=2e-4)


def test_another_model_s_example_gives_way_and_a_text_of_yours_stays(show: Callable[..., dict[str, Any]]) -> None:
    french = MEMBERS["opus-mt-fr-en"].example
    assert show(TRANSLATOR, CROSS, source=french)["source"]["value"] == AGREEMENT
    assert show(TRANSLATOR, CROSS, source="the dog sleeps")["source"]["value"] == "the dog sleeps"


def test_layers_and_heads_beyond_the_model_s_are_its_last(show: Callable[..., dict[str, Any]]) -> None:
    changed = show(TRANSLATOR, CROSS, layer=9, head=9)
    assert (changed["layer"]["value"], changed["head"]["value"]) == (1, 3)
    message = json.loads(show(TRANSLATOR, CROSS, view="model")["frame"])
    assert sorted(message["weights"]) == ["0", "1"]
    assert json.loads(show(TRANSLATOR, CROSS, view="neuron")["frame"])["view"] == "head"  # which has no such view


def test_hostile_text_is_escaped(show: Callable[..., dict[str, Any]]) -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    changed = show(BUNDLED, ENCODER, source=hostile)
    for name in ("frame", "said", "caption", "numbers"):
        assert "<img" not in changed[name]
        assert "</script" not in changed[name]
    with pytest.raises(UserError, match="is not among the"):
        show(TRANSLATOR, CROSS, source=hostile)
    half = json.loads(show(BUNDLED, ENCODER, source="half a character \ud800")["frame"])
    assert half["tokens"] == ["[CLS]", "half", "a", "character", "[SEP]"]
    with pytest.raises(UserError, match="must be text"):
        show(BUNDLED, ENCODER, source=["a"])


def test_a_member_that_can_not_be_had_is_told_in_one_sentence(services: Services) -> None:
    services.family = FamilyStore(services.memory)
    cached = VIEW.shown(services, BAR)["cached"]
    assert cached  # a picture stands
    with pytest.raises(UserError, match=r"GPT-2 could not be downloaded .*\. The first three models .* no download\."):
        VIEW.shown(services, BAR, family_model="gpt2", cached=cached)
    on = On(services, BAR)
    (changed,) = VIEW.draw(on, VIEW.read(on, {}))
    assert "frame" in changed  # and those that need no Hub go on


@pytest.mark.parametrize(
    ("asked", "stands"), [("gpt2", OUR_DECODER), ("roberta-base", BUNDLED), ("opus-mt-fr-en", TRANSLATOR)]
)
def test_a_link_to_a_member_that_can_not_be_had_shows_one_that_can(
    asked: str, stands: str, services: Services, show: Callable[..., dict[str, Any]]
) -> None:
    services.family = FamilyStore(services.memory)
    text = MEMBERS[asked].example
    changed = show(asked, CROSS, text)
    assert changed["family_model"]["value"] == stands
    said = changed["said"]
    assert f"{MEMBERS[asked].title} could not be downloaded from the Hugging Face Hub just now." in said
    assert f"Showing {MEMBERS[stands].title} instead (no download needed)." in said
    assert "previous" not in said
    there = show(stands, CROSS, MEMBERS[stands].example if stands == TRANSLATOR else text)
    assert changed["frame"] == there["frame"]


def test_the_answer_is_the_size_of_the_cross_attention(services: Services) -> None:
    assert part.answer(services, Sentence("", "", BUNDLED)).facts == {"m": 15, "n": 13}

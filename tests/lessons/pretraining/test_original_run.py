"""How BERT was pre-trained: what is said against paper and record; the losses against transformers."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from demos.bert.model.catalogue import BUNDLED
from demos.bert.pretraining.original_run import WORDS, our_run, tokens_read
from demos.errors import UserError
from demos.files import ASSETS
from demos.lessons.pretraining.original_run.figure import (
    HEIGHT,
    Shown,
    costs_html,
    counting_html,
    data_html,
    losses_code,
    losses_html,
    numbers_html,
    sequence_html,
)
from demos.lessons.pretraining.original_run.part import LENGTHS, OPENING, SEED, batch_shown
from demos.page.services import Sentence, Services
from tests.programs import printed

BAR = Sentence("The old baker sells his bread at the station.", "", BUNDLED)


@pytest.fixture(scope="module")
def opening(services: Services) -> Shown:
    return batch_shown(services, BAR, OPENING, 512, SEED)


def plain(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_the_page_opens_on_a_full_sequence_and_both_labels(opening: Shown) -> None:
    assert len(opening.batch[0]) > 500
    assert {one.spans.is_next for one in opening.batch} == {True, False}
    assert opening.batch[0].spans.is_next
    assert opening.losses.total < 0.6 * (10.33 + 0.69)  # far from guessing


def test_areas_are_to_scale() -> None:
    shown, ours = data_html(), our_run()
    heights = [float(height) for height in re.findall(r'<p class="run-\d" style="height:([\d.]+)%"', shown)]
    assert heights == pytest.approx([100 * 2500 / 3300, 100 * 800 / 3300], abs=0.01)
    wide, high = map(float, re.search(r"width:([\d.]+)%;height:([\d.]+)px", shown).groups())  # type: ignore[union-attr]
    assert wide * high / (100 * HEIGHT) == pytest.approx(ours.words / sum(WORDS.values()), rel=1e-3)


def test_the_picture_of_the_sequence_has_each_token_and_each_mask(opening: Shown) -> None:
    cells = re.findall(r'<i class="([^"]+)" title="([^"]*)"', sequence_html(opening))
    assert len(cells) == 512
    one = opening.batch[0]
    kinds = one.instance.corruption.kinds
    for kind, name in enumerate(("masked", "random", "kept"), 1):
        assert [at for at, (classes, _) in enumerate(cells) if name in classes.split()] == [
            at for at, found in enumerate(kinds.tolist()) if found == kind
        ]
    special = [at for at, (classes, _) in enumerate(cells) if "special" in classes]
    assert [cells[at][1] for at in special] == ["[CLS]", "[SEP]", "[SEP]"]
    assert sum(classes == "pad" for classes, _ in cells) == 512 - len(one)
    spans = [sum(set("ab") & {*classes.split()} == {side} for classes, _ in cells) for side in "ab"]
    assert spans == [sum(piece.tokens for piece in span) for span in (one.spans.first, one.spans.second)]


def test_the_numbers_shown_are_the_losses_of_the_batch(opening: Shown) -> None:
    said, losses = plain(losses_html(opening)), opening.losses
    numbers = [float(number) for number in re.findall(r"\d+\.\d\d", said)]
    assert numbers[:3] == [round(losses.masked, 2), round(losses.next_sentence or 0, 2), round(losses.total, 2)]
    assert "ln 30,522 + ln 2 = 11.02" in said
    table = numbers_html(opening)
    assert table.count("<tr>") == 2 + len(opening.batch) + losses.chosen


def test_what_our_heads_saw_is_what_their_record_says() -> None:
    record, ours = (ASSETS / "pretraining" / "README.md").read_text(encoding="utf-8"), our_run()
    said = " ".join(record.split())
    assert f"to {ours.steps:,} | {ours.tokens / 1e6:.1f} M" in said
    assert f"{ours.books} English books" in said
    assert f"{ours.pairs:,} pairs" in said
    assert f"on two CPU cores, some {ours.hours} hours" in said
    assert ours.cores == 2
    assert f"sequences of {ours.lengths[0]}" in said
    assert f"sequences of {ours.lengths[1]} from step" in said
    shown = plain(costs_html())
    assert f"1/{tokens_read() / ours.tokens:.0f}" in shown
    assert "22.7 M" in shown


def test_the_table_says_what_the_paper_says() -> None:
    """Devlin et al. 2019: sections 3.1 and 3.2, A.2."""
    said = plain(costs_html()) + plain(counting_html()) + plain(data_html())
    for fact in (
        "1,000,000 × 256 sequences",
        "128 in 90% of the steps, then 512 in 10% of the steps",
        "about 40 by the paper, about 10 by tokens",
        "4 Cloud TPUs (16 chips)",
        "16 Cloud TPUs (64 chips)",
        "at most one hour on one Cloud TPU, a few hours on a GPU",
        "2,500 million words",
        "800 million words",
        "131 billion",
        "42.6 billion",
        "1/282 of the pre-training",
    ):
        assert fact in said, fact


def test_the_reader_s_text_draw_and_length_move_the_losses(services: Services) -> None:
    totals = [
        batch_shown(services, BAR, text, length, seed).losses.total
        for text, length, seed in ((OPENING, 128, 1), (OPENING, 128, 2), ("Frogs sing. It rains.", 128, 1))
    ]
    assert len({round(total, 2) for total in totals}) == 3
    own = batch_shown(services, BAR, " ", 128, 1)
    assert own.documents[0] == (BAR.text,)
    assert batch_shown(services, BAR, OPENING, "512", 1).length == batch_shown(services, BAR, OPENING, 999, 1).length
    assert LENGTHS == (128, 512)
    with pytest.raises(UserError, match="the limit is"):
        batch_shown(services, BAR, "word. " * 500, 128, 1)
    hostile = batch_shown(services, BAR, "<img src=x onerror=alert(1)>. ${alert(1)}.", 128, 0)
    for shown in (sequence_html(hostile), losses_html(hostile), numbers_html(hostile)):
        assert "<img" not in shown


def test_the_program_prints_the_page_s_losses(
    services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Our heads through transformers' own BertForPreTraining, from their file."""
    monkeypatch.chdir(ASSETS.parent)
    shown = batch_shown(services, BAR, OPENING, 128, SEED)
    spec = services.pretrained(BUNDLED).encoder.spec
    with torch.inference_mode():
        lines = printed(losses_code(spec, [one.instance for one in shown.batch]))
    values = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines}
    assert values == {
        "masked words": pytest.approx(shown.losses.masked, abs=2e-3),
        "next sentence": pytest.approx(shown.losses.next_sentence, abs=2e-3),
        "loss": pytest.approx(shown.losses.total, abs=2e-3),
    }


def test_a_model_without_next_sentences_shows_one_loss(services: Services) -> None:
    pretrained = services.pretrained(BUNDLED)
    alone = Services(services.store, BUNDLED)
    alone.pretrained = lambda model: replace(pretrained, pooler=None, relation=None)  # type: ignore[method-assign]
    shown = batch_shown(alone, BAR, OPENING, 128, SEED)
    said = plain(losses_html(shown))
    assert "next sentence" not in said
    assert "ln 2" not in said
    assert "ln 30,522 = 10.33" in said
    assert "next sentence" not in losses_code(pretrained.encoder.spec, [one.instance for one in shown.batch])

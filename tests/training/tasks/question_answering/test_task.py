"""Question answering against transformers: its tokens, logits and loss; spans against a search of every pair."""

import dataclasses
import json
import pickle
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torchmetrics.functional.text import squad
from transformers import AutoTokenizer, BertForQuestionAnswering

from demos.bert.model.models import LoadedModel
from demos.training.data.splits import same
from demos.training.events import Epoch, Finished, Started, as_json
from demos.training.learning.model import Trained, collate, last_states
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.sources import SOURCES
from demos.training.tasks.question_answering.data import QuestionDataset, build_questions, example_of
from demos.training.tasks.question_answering.events import SpanResult
from demos.training.tasks.question_answering.files import QuestionExample, QuestionRow
from demos.training.tasks.question_answering.span_search import (
    ASKED,
    BACKWARDS,
    LONG,
    LONGEST,
    SHOWN,
    best_spans,
    search,
)
from demos.training.tasks.question_answering.task import QuestionAnswering, text_of
from demos.training.tasks.question_answering.windows import MAX_WINDOWS, windows_of
from demos.training.tasks.task import NO_LABEL, Batch, Features

CPU = torch.device("cpu")
PARAGRAPH = "Zoë Pembroke-Ivanova's unfathomable café opened in 1907; nobody went."


def bundled_questions() -> Any:
    return SOURCES["questions"].load(0, 1_500)


@pytest.fixture(scope="module")
def examples() -> list[QuestionExample]:
    """Paragraphs of one window and of several; the last has its answer behind all windows of 64 tokens."""
    far = " ".join(f"word{k}" for k in range(200))
    return [
        *bundled_questions().test[:6],
        QuestionExample("Whose café?", PARAGRAPH, ("Zoë Pembroke-Ivanova",), 0),
        QuestionExample("Which is last?", far, ("word199",), far.index("word199")),
    ]


def test_tokens_segments_and_targets_are_those_of_transformers(
    base: Path, tiny: LoadedModel, examples: list[QuestionExample]
) -> None:
    """A tokenizer of our own makes windows with `stride`; the target is what run_squad.py makes of their offsets."""
    own = AutoTokenizer.from_pretrained(base)
    task = QuestionAnswering()
    for feature, example in zip(task.features(tiny.tokenizer, examples, 64), examples, strict=True):
        asked = len(own(example.question, add_special_tokens=False)["input_ids"])
        room = 64 - 3 - asked
        theirs = own(
            example.question, example.context, truncation="only_second", max_length=64, stride=room - room // 2,
            return_overflowing_tokens=True, return_offsets_mapping=True,
        )  # fmt: skip
        assert feature.cut == (len(theirs["input_ids"]) > MAX_WINDOWS)
        kept = range(min(MAX_WINDOWS, len(theirs["input_ids"])))
        assert [list(one) for one in feature.sequences] == [theirs["input_ids"][k] for k in kept]
        assert [list(one) for one in feature.segments] == [theirs["token_type_ids"][k] for k in kept]
        targets = task.targets([feature], 70)
        assert targets.shape == (len(kept), 70, 2)
        assert (targets[:, 64:] == NO_LABEL).all()
        for k in kept:
            owner, offsets = theirs.sequence_ids(k), theirs["offset_mapping"][k]
            inside = [at for at, one in enumerate(owner) if one == 1]
            start = end = 0
            if offsets[inside[0]][0] <= example.start and offsets[inside[-1]][1] >= example.end:
                start = max(at for at in inside if offsets[at][0] <= example.start)
                end = min(at for at in inside if offsets[at][1] >= example.end)
            assert targets[k].argmax(dim=0).tolist() == [start, end]
            assert (targets[k] != NO_LABEL).all(dim=1).nonzero().flatten().tolist() == [0, *inside]
    assert task.targets([feature], 64).argmax(dim=1).eq(0).all()  # never in a window: always [CLS]


def test_logits_and_loss_are_bertforquestionansweringss(tiny: LoadedModel, examples: list[QuestionExample]) -> None:
    """Its logits exactly. Its loss has the question, [SEP] and padding in the softmax too: with those opened in our
    targets the two losses are equal; as we train, ours is its loss with their logits at minus infinity."""
    task = QuestionAnswering(dropout=0.0)
    head = task.head(32, torch.Generator().manual_seed(1)).eval()
    batch = collate(task, task.features(tiny.tokenizer, examples, 64), 0, CPU)
    theirs = BertForQuestionAnswering(tiny.model.config).eval()
    theirs.bert.load_state_dict(tiny.model.state_dict(), strict=False)
    theirs.qa_outputs.load_state_dict(head[1].state_dict())
    start, end = batch.targets.argmax(dim=1).unbind(dim=1)
    with torch.no_grad():
        ours = task.logits(head, last_states(tiny.model, batch), batch) * 20  # far from even, as after training
        output = theirs(
            batch.input_ids, batch.attention_mask, batch.token_type_ids, start_positions=start, end_positions=end
        )
    wanted = torch.stack([output.start_logits, output.end_logits], dim=-1)
    torch.testing.assert_close(ours / 20, wanted, atol=1e-5, rtol=1e-5)
    opened = batch.targets.clamp(min=0)
    assert task.loss(wanted, opened).item() == pytest.approx(output.loss.item(), abs=1e-5)
    allowed = (batch.token_type_ids == 1) & (batch.input_ids != tiny.tokenizer.sep_token_id)
    allowed[:, 0] = True
    masked = ours.masked_fill(~allowed[..., None], -1e9)
    both = [torch.nn.functional.cross_entropy(masked[..., k], place) for k, place in enumerate((start, end))]
    assert task.loss(ours, batch.targets).item() == pytest.approx(sum(both).item() / 2, abs=1e-4)
    assert task.units(batch.targets) == len(batch.input_ids)
    right = (masked.argmax(dim=1) == torch.stack([start, end], dim=1)).all(dim=1)
    score = task.batch_score(ours, batch.targets)
    assert score == right[start > 0].float().mean()
    perfect = batch.targets.float() * 9
    assert task.batch_score(perfect, batch.targets) == 1
    assert task.batch_score(perfect[-1:], batch.targets[-1:]).isnan()  # a window without an answer


def every_pair(feature: Features, logits: torch.Tensor) -> dict[tuple[int, int], tuple[float, float]]:
    """(score, probability) of each possible span by its characters, over all windows, by trying each pair."""
    reading = feature.extra
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for window, (first, past) in enumerate(reading.windows):
        places = [0, *range(reading.offset, reading.offset + past - first)]
        chances = logits[window, places].softmax(dim=0)
        for i, j in product(range(past - first), repeat=2):
            if i <= j < i + LONGEST:
                span = (reading.context[first + i][0], reading.context[first + j][1])
                score = float(logits[window, places[1 + i], 0] + logits[window, places[1 + j], 1])
                probability = float(chances[1 + i, 0] * chances[1 + j, 1])
                if span not in found or score > found[span][0]:
                    found[span] = (score, probability)
    return found


def test_the_best_spans_are_those_of_a_search_of_every_pair(tiny: LoadedModel, examples: list[QuestionExample]) -> None:
    features = QuestionAnswering().features(tiny.tokenizer, examples, 64)
    torch.manual_seed(3)
    for feature in (features[0], features[6]):
        logits = torch.randn(len(feature.sequences), 64, 2) * 4
        logits[:, 1 : feature.extra.offset] += 20  # the question's tokens, which are never an answer
        wanted = sorted(every_pair(feature, logits).items(), key=lambda item: -item[1][0])[:5]
        answer = search(feature.extra, logits)
        assert [(one.start, one.end) for one in answer.best] == [span for span, _ in wanted]
        assert [(one.score, one.probability) for one in answer.best] == [pytest.approx(told) for _, told in wanted]
        assert (answer.windows, answer.unread) == (len(feature.sequences), 0)
        cutout = answer.cutout
        assert cutout is not None
        assert min(SHOWN, cutout.tokens) <= len(cutout.places) <= LONGEST
        starts = [place[0] for place in cutout.places]
        ends = [place[1] for place in cutout.places]
        best = answer.best[0]
        chance = cutout.starts[starts.index(best.start)] * cutout.ends[ends.index(best.end)]
        assert chance == pytest.approx(best.probability)


def test_the_best_impossible_spans_are_found_too(tiny: LoadedModel) -> None:
    example = example_of(["Who sold them?", " ".join(f"{k}" for k in range(60))])
    (feature,) = QuestionAnswering().features(tiny.tokenizer, [example], 128)
    reading = feature.extra
    logits = torch.randn(1, len(feature.sequences[0]), 2, generator=torch.Generator().manual_seed(5))
    q, at = len(reading.question), reading.offset
    wanted: dict[str, tuple[float, str, str]] = {}
    spots = [*range(1, 1 + q), *range(at, at + 60)]
    texts = ["Who", "sold", "them", "?", *map(str, range(60))]
    for (m, i), (n, j) in product(enumerate(spots), repeat=2):
        reason = None
        if m < q and n >= m:
            reason = ASKED
        elif m >= q and n >= q and n < m:
            reason = BACKWARDS
        elif m >= q and n >= m + LONGEST:
            reason = LONG
        score = float(logits[0, i, 0] + logits[0, j, 1])
        if reason and score > wanted.get(reason, (-99.0, "", ""))[0]:
            wanted[reason] = (score, texts[m], texts[n])
    found = {one.reason: (one.score, one.first, one.last) for one in search(reading, logits).impossible}
    assert found.keys() == {ASKED, BACKWARDS, LONG}
    for reason, (score, first, last) in wanted.items():
        assert found[reason] == (pytest.approx(score), first, last)


def test_windows_cover_the_paragraph_and_odd_paragraphs_have_an_answer_or_none(tiny: LoadedModel) -> None:
    assert windows_of(10, 10) == ((0, 10),)
    assert windows_of(11, 10) == ((0, 10), (5, 11))
    assert windows_of(0, 10) == ((0, 0),)
    assert len(windows_of(10_000, 10)) == MAX_WINDOWS
    assert windows_of(3, 1) == ((0, 1), (1, 2), (2, 3))
    task = QuestionAnswering()
    odd = [
        example_of(["?", "\x01\x02"]),
        example_of(["👩‍👩‍👧 <script>", "😀 ${x} [SEP] x"]),
        example_of(["why " * 100, "x"]),
    ]
    for length in (4, 16, 128):
        batch = collate(task, task.features(tiny.tokenizer, odd, length), 0, CPU)
        assert batch.input_ids.shape[1] <= length
        head = task.head(32, torch.Generator().manual_seed(1)).eval()
        with torch.no_grad():
            logits = task.logits(head, last_states(tiny.model, batch), batch)
        none, *some = task.answers(logits, batch)
        assert none.best == ()
        assert text_of(none, odd[0]) == ""
        assert all(one.best for one in some)
        assert torch.isfinite(task.loss(logits, batch.targets))
    (feature,) = task.features(tiny.tokenizer, [example_of(["why " * 100, "x " * 1_000])], 64)
    assert feature.cut
    assert feature.extra.lost == 100 - (64 - 3) // 2
    answer = search(feature.extra, torch.zeros(MAX_WINDOWS, 64, 2))
    read = feature.extra.windows[-1][1]
    assert answer.unread == 1_000 - read
    assert best_spans(torch.full((3, 2), float("nan")), 5) == []


@pytest.fixture(scope="module")
def places() -> QuestionDataset:
    """120 questions on 60 paragraphs: what stands behind "gold" or "iron" is asked for."""
    rows: list[QuestionRow] = []
    for k in range(60):
        river, bank = f"{'abcdefghij'[k % 10]}", f"{'klmnopqrst'[(k * 7) % 10]}"
        filler = " ".join(["stone"] * (k % 9))
        context = f"{filler} gold {river} then iron {bank} {k}".strip()
        for word, answer in (("gold", river), ("iron", bank)):
            start = context.index(f"{word} {answer}") + 5
            example = QuestionExample(f"{word}?", context, (answer,), start)
            rows.append(QuestionRow(len(rows) + 1, same(context), "", "", example))
    return build_questions("places", rows)


@pytest.mark.slow
def test_a_training_learns_tells_squads_scores_and_is_kept(
    places: QuestionDataset, base: Path, quick: Settings, tmp_path: Path
) -> None:
    settings = dataclasses.replace(quick, epochs=10, learning_rate=1e-2, evaluations=1)
    events = list(train(places, base, settings, tmp_path / "run"))
    started, finished = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(finished, Finished)
    assert started.metric == "exact match"
    result = finished.result
    assert isinstance(result, SpanResult)
    assert result.metrics["exact match"] > 0.4  # far beyond one of some ten tokens
    looks = [one for one in events if isinstance(one, Epoch)]
    assert looks[-1].validation_loss < looks[0].validation_loss
    trained = Trained.read(tmp_path / "run")
    answers = trained.answers(places.test)
    assert [a.best[0].start for a in answers] == [a.best[0].start for a in result.answers]
    guesses = [text_of(answer, one) for answer, one in zip(answers, places.test, strict=True)]
    theirs = squad(
        [{"prediction_text": text, "id": str(at)} for at, text in enumerate(guesses)],
        [{"answers": {"answer_start": [one.start], "text": list(one.answers)}, "id": str(at)}
         for at, one in enumerate(places.test)],
    )  # fmt: skip
    assert result.metrics["exact match"] == pytest.approx(float(theirs["exact_match"]) / 100)
    assert result.metrics["token F1"] == pytest.approx(float(theirs["f1"]) / 100)
    assert result.wrong == len(result.mistakes) == round((1 - result.scores.exact) * len(places.test))
    assert sum(one.scores.count for one in result.by_word) == len(places.test)
    assert result.picture is not None
    assert (started.baseline, started.baseline_score) == (result.baseline, result.baseline_scores.exact)
    assert pickle.loads(pickle.dumps(result)) == result
    told = as_json(finished)
    assert told["result"]["metrics"] == result.metrics
    json.dumps(told)


def test_windows_of_one_example_stay_together_in_a_training(base: Path, quick: Settings, tmp_path: Path) -> None:
    """Paragraphs of several windows, frozen layers cached: examples have 2 to 6 rows each."""
    data = bundled_questions()
    few = dataclasses.replace(data, train=data.train[:12], validation=data.validation[:3], test=data.test[:4])
    settings = dataclasses.replace(quick, epochs=1, max_length=48, trains="top", top_layers=1)
    *_, last = train(few, base, settings, tmp_path / "run")
    assert isinstance(last, Finished)
    result: Any = last.result
    trained = Trained.read(tmp_path / "run")
    assert trained.max_length == 48
    answers = trained.answers(few.test)
    for told, again in zip(result.answers, answers, strict=True):
        assert told.windows == again.windows > 1
        assert told.best[0].score == pytest.approx(again.best[0].score, abs=1e-3)
    assert result.windows == sum(answer.windows for answer in answers)
    task = trained.task
    features = task.features(trained.model.tokenizer, few.test, 48)
    batch: Batch = collate(task, features, 0, CPU)
    assert len(batch.targets) == len(batch.input_ids) == result.windows

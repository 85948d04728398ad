"""Trainings as on a ZeroGPU Space, through spaces' own client, worker and pickles; run by test_zero_gpu.py.

`python -m tests.training.service.zero_gpu_app MODEL RUNS EVENTS`, with the environment of such a Space; RUNS is a JSON
list, EVENTS the number of the open file that the events are written to.
What can't be had without a GPU is put in its place: three names that PyTorch's CPU build lacks, and the two functions
of `spaces.zero.torch` that begin CUDA and move packed weights to it, so that the worker trains on the CPU.
"""

# ruff: noqa: E402  (what stands in for CUDA comes before what asks for it)
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import torch  # isort: skip

if not torch.version.cuda:
    torch.version.cuda = "12.8"
    torch._C._cuda_init = lambda: None  # type: ignore[attr-defined]
    torch.cuda._is_in_bad_fork = bool  # type: ignore[assignment]  # any picklable function that says False
import spaces.zero.torch

spaces.zero.torch.init = lambda uuid: None
spaces.zero.torch.move = lambda callback=None: None

from gradio.context import LocalContext
from starlette.datastructures import Headers

from demos.training.data.tables import Row
from demos.training.events import as_json
from demos.training.service import gpu_quota, gpu_worker
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings
from demos.training.tasks.classification.data import build_dataset


def main(model: str, runs: str, events_file: str) -> None:
    """Each run's events as JSON, a line each, with the run's name."""
    trainings = TrainingService()
    written = open(int(events_file), "w", encoding="utf-8")  # noqa: SIM115  (until the process ends)
    for run in json.loads(runs):
        numbers = range(run.get("rows", 96))
        rows = [Row(k + 1, f"{('bad', 'good')[k % 2]} river {k}", ("bad", "good")[k % 2]) for k in numbers]
        dataset = build_dataset("rivers", rows, seed=0)
        headers = Headers({"x-ip-token": run["token"]} if "token" in run else {})
        LocalContext.request.set(SimpleNamespace(headers=headers))  # type: ignore[arg-type]
        for name, value in run.get("quota", {}).items():
            setattr(gpu_quota, name, value)
            setattr(gpu_worker, name, value)
        settings = Settings(batch_size=8, learning_rate=3e-3, max_length=16, threads=1, epochs=run["epochs"])
        events = trainings.fine_tune(
            trainings.runs.new(), dataset, "tiny", Path(model), settings, on_cpu=run.get("on_cpu", False)
        )
        for event in events:
            written.write(json.dumps({"run": run["name"], **as_json(event)}) + "\n")
            written.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

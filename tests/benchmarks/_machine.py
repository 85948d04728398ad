"""What a figure was measured on: the processor, what it multiplies in, and the versions of the libraries."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import torch

LIBRARIES = ("torch", "transformers", "sentence-transformers", "gradio")


def processor() -> str:
    """The processor's own name, with family, model and stepping where Linux tells them: some names are bare."""
    cpus = Path("/proc/cpuinfo")
    if cpus.is_file():
        lines = (line.partition(":") for line in cpus.read_text(encoding="utf-8").split("\n\n")[0].splitlines())
        told = {name.strip(): value.strip() for name, _, value in lines}
        parts = (f"{name} {told[key]}" for name, key in NUMBERS.items() if key in told)
        return ", ".join([told.get("model name", platform.machine()), *parts])
    if platform.system() == "Darwin":
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False, encoding="utf-8")
        return done.stdout.strip() or platform.machine()
    return platform.processor() or platform.machine()


NUMBERS = {"family": "cpu family", "model": "model", "stepping": "stepping"}


def machine() -> str:
    """Two lines: the processor, its cores and its bfloat16 units; the versions."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no affinity
        count = os.cpu_count() or 1
    amx, avx = torch.cpu._is_amx_tile_supported(), torch.cpu._is_avx512_bf16_supported()
    cores = "1 core" if count == 1 else f"{count} cores"
    gpu = f"; GPU {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"processor: {processor()}; {cores}; AMX {_yes(amx)}, AVX-512 BF16 {_yes(avx)}{gpu}\n"
        f"Python {platform.python_version()}, {versions}"
    )


def _yes(found: bool) -> str:
    return "yes" if found else "no"

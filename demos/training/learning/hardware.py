"""The fast paths of this machine: the number format of a run's products, and the attention."""

import torch


def run_device(on_cpu: bool = False) -> torch.device:
    """The device of a run: the GPU if there is one (ZeroGPU feigns one outside of its workers), unless `on_cpu`."""
    return torch.device("cuda" if torch.cuda.is_available() and not on_cpu else "cpu")


def in_bfloat16(on_cpu: bool = False) -> bool:
    """Whether a run multiplies in bfloat16: CUDA's hardware of today does, or a CPU's with AMX or AVX-512 BF16.

    Others only imitate it, in 2 to 4 times the time that float32 takes. Weights and sums stay in float32.
    """
    if torch.cuda.is_available() and not on_cpu:
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()


def attention_of(half: bool, device: torch.device) -> str:
    """The attention that trains quicker here, of two that agree up to rounding.

    On a CPU PyTorch's fused one is as quick as the plain one in float32, but its bfloat16 gradient takes ten times as
    long. Its CUDA kernels add up in no fixed order; same seed, same numbers matters more than their speed.
    """
    return "sdpa" if device.type == "cpu" and not half else "eager"

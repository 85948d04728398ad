"""The reason why a run ended without a model, as one sentence: out of memory, a full disk, a broken choice."""

import errno

import torch

from demos.errors import UserError

NO_MEMORY = "The server ran out of memory; use a smaller batch, shorter sentences or a smaller model."
DISK_FULL = "The run could not be saved, because the disk is full."
NOT_KEPT = "The run could not be saved, because its files could not be written."
NO_MODEL = "The model's files could not be read; choose the model again."
# A CPU allocator, cuBLAS and safetensors give theirs as text only; transformers' OSError has no number.
_MEMORY_WORDS = ("can't allocate memory", "out of memory", "alloc_failed")
_DISK_WORDS = ("no space left on device", "os error 28")


def sentence_of(error: BaseException) -> str:
    """The sentence for the reader; "" for a fault of the program's own, which should be raised."""
    text = str(error).lower()
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, torch.OutOfMemoryError | MemoryError) or any(words in text for words in _MEMORY_WORDS):
        return NO_MEMORY
    if getattr(error, "errno", None) == errno.ENOSPC or any(words in text for words in _DISK_WORDS):
        return DISK_FULL
    if "error while serializing" in text:
        return NOT_KEPT
    if "error while deserializing" in text or (isinstance(error, OSError) and error.errno is None):
        return NO_MODEL
    return f"The run could not be saved: {error.strerror}." if isinstance(error, OSError) else ""

"""The CPU cores this process may use, and a thread's own share of them."""

import os
import threading

import psutil
import torch


def cores() -> int:
    """CPU cores this process may use (OMP_NUM_THREADS, where set, says less), at most 8: more gain nothing here."""
    process = psutil.Process()
    # macOS binds no process to cores.
    available = len(process.cpu_affinity()) if hasattr(process, "cpu_affinity") else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(8, available, int(limit) if limit.isdigit() else 8))


def own_cpu_threads(count: int) -> None:
    """Set torch's CPU threads for the calling thread only.

    OpenMP's count is a thread's own, but torch also keeps the last one set as the start value of threads that have not
    computed yet. A second, short-lived thread puts that start value back.
    """
    before = torch.get_num_threads()
    if before == count:
        return
    torch.set_num_threads(count)
    restore = threading.Thread(target=torch.set_num_threads, args=(before,))
    restore.start()
    restore.join()

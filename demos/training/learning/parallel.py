"""Several processes that train one model: each takes its share of every batch, and their gradients are averaged.

They are started by `accelerate launch` or `torchrun`, which pass each its rank by the environment.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import distributed, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

T = TypeVar("T")


@dataclass(frozen=True)
class Parallel:
    """One process among `processes`; alone it changes nothing. Process 0 leads: it evaluates, reports and writes."""

    rank: int = 0
    processes: int = 1

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def share(self, batch: Sequence[T]) -> list[T]:
        """This process's examples of a batch, which all of them know; none where the batch has too few."""
        return list(batch[self.rank :: self.processes])

    def sums(self, values: Sequence[float]) -> list[float]:
        """Each value's sum over the processes."""
        shared = torch.tensor(values, dtype=torch.float64)
        distributed.all_reduce(shared)
        return [float(value) for value in shared]

    def average(self, parameters: Sequence[nn.Parameter], weight: float) -> None:
        """Make each gradient the mean over the whole batch, of which this process read the share `weight`, 0 to 1.

        Added up as one vector, so that there is one exchange a step. A process that read nothing has no gradients yet.
        """
        for parameter in parameters:
            parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad * weight
        gradients = [parameter.grad for parameter in parameters]
        shared = parameters_to_vector(gradients).cpu()
        distributed.all_reduce(shared)
        vector_to_parameters(shared.to(gradients[0].device), gradients)

    def agreed(self, word: str) -> str:
        """The value of process 0, for all processes: clocks differ, and all must stop at the same step."""
        if self.processes == 1:
            return word
        words = [word]
        distributed.broadcast_object_list(words, src=0)
        return str(words[0])


ALONE = Parallel()


@contextmanager
def joined() -> Iterator[Parallel]:
    """This process's place among those that were started together; alone where it was started by itself.

    Over gloo, which needs no GPU each: a gradient travels by the processor's memory.
    """
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    if processes < 2:
        yield ALONE
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    distributed.init_process_group("gloo")
    try:
        yield Parallel(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()

"""First come, first served; a full line and a left place."""

from __future__ import annotations

import pytest

from demos.errors import UserError
from demos.training.service.training_queue import TrainingQueue


def test_places_move_up_when_someone_leaves() -> None:
    line = TrainingQueue(slots=1, waiting=3)
    tickets = [line.join() for _ in range(4)]
    assert [ticket.place for ticket in tickets] == [0, 1, 2, 3]
    with pytest.raises(UserError, match="4 trainings run or wait"):
        line.join()
    line.leave(tickets[1])  # a closed tab in the middle of the line
    assert [ticket.place for ticket in (tickets[0], *tickets[2:])] == [0, 1, 2]
    with pytest.raises(RuntimeError), tickets[0]:
        raise RuntimeError
    assert [ticket.place for ticket in tickets[2:]] == [0, 1]
    line.leave(tickets[0])  # twice is no harm
    assert len(line) == 2


def test_two_slots_run_two() -> None:
    line = TrainingQueue(slots=2, waiting=1)
    assert [line.join().place for _ in range(3)] == [0, 0, 1]

"""First come, first served; a full line and a left place."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from demos.errors import UserError
from demos.training.service import training_queue as module
from demos.training.service.training_queue import TrainingQueue


def test_places_move_up_when_someone_leaves() -> None:
    line = TrainingQueue(slots=1, waiting=3)
    tickets = [line.join() for _ in range(4)]
    assert [ticket.place for ticket in tickets] == [0, 1, 2, 3]
    with pytest.raises(UserError, match="4 training runs are running or waiting"):
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


class Clock:
    """`time`, by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def test_a_place_says_how_long_it_is_until_its_turn(clock: Clock) -> None:
    line = TrainingQueue()
    first, second, third = line.join(100), line.join(60), line.join(5)
    assert [ticket.seconds_before for ticket in (first, second, third)] == [0, 100, 160]
    clock.now = 70
    assert third.seconds_before == 30 + 60
    first.ends_in(10)  # it is quicker than was expected
    assert (second.seconds_before, third.seconds_before) == (10, 70)
    clock.now = 500  # and then it hangs
    assert (second.seconds_before, third.seconds_before) == (0, 60)
    line.leave(first)
    assert (second.seconds_before, third.seconds_before) == (0, 60)
    line.leave(third)
    with pytest.raises(ValueError, match="not in list"):
        third.seconds_before  # noqa: B018


def test_with_several_slots_the_next_one_begins_where_the_first_ends(clock: Clock) -> None:
    line = TrainingQueue(slots=2)
    tickets = [line.join(seconds) for seconds in (100, 30, 20, 200, 1)]
    assert [ticket.seconds_before for ticket in tickets] == [0, 0, 30, 50, 100]


def test_a_full_line_says_for_how_many_minutes(clock: Clock) -> None:
    line = TrainingQueue(waiting=2)
    for _ in range(3):
        line.join(90)
    with pytest.raises(UserError, match="3 training runs are running or waiting, for about 5 min"):
        line.join(90)


def test_a_hundred_who_press_at_one_moment_have_a_place_each() -> None:
    line, together = TrainingQueue(), threading.Barrier(100)

    def press(_: int) -> tuple[int, float]:
        together.wait(timeout=60)
        ticket = line.join(60)
        everybody.wait(timeout=60)
        return ticket.place, ticket.seconds_before

    everybody = threading.Barrier(100)
    with ThreadPoolExecutor(100) as pool:
        told = sorted(pool.map(press, range(100)))
    assert [place for place, _ in told] == list(range(100))
    assert [seconds for _, seconds in told] == [pytest.approx(60 * place, abs=30) for place in range(100)]

"""The memory budget: what goes for what, in which order, and that threads keep within it."""

import gc
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from demos.bert.model import memory_budget
from demos.bert.model.memory_budget import Budget
from demos.bert.model.once_cache import OnceCache, Recent
from demos.errors import UserError


def until(true: Callable[[], bool]) -> None:
    """Come back when it is; fail after ten seconds."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def shelf(budget: Budget, kind: str, **options: Any) -> Recent[int]:
    """A cache of numbers, each as many bytes as it says."""
    return Recent(size=lambda value: value, budget=budget, kind=kind, **options)


def test_the_least_recently_used_of_all_goes() -> None:
    budget = Budget(10)
    models, heads, runs = (shelf(budget, kind) for kind in ("models", "heads", "runs"))
    models.put("a", 3)
    runs.put("b", 3)
    heads.put("c", 3)
    assert models.get("a") == 3  # used, so that "b" is the oldest
    assert budget.usage() == {"models": 3, "heads": 3, "runs": 3}
    runs.put("d", 4)
    assert (models.get("a"), runs.get("b"), heads.get("c"), runs.get("d")) == (3, None, 3, 4)
    assert budget.usage() == {"models": 3, "heads": 3, "runs": 4}
    models.put("e", 7)
    assert budget.usage() == {"models": 7}  # "d", used last, had to go too


def test_what_does_not_fit_at_all_puts_nothing_out() -> None:
    budget = Budget(10)
    kept = shelf(budget, "kept")
    kept.put("a", 6)
    assert not kept.put("b", 11)
    with pytest.raises(UserError, match="This needs"):
        kept.make("c", lambda take: take(11) or 11)
    assert budget.usage() == {"kept": 6}


def test_a_claim_is_held_until_its_end_and_what_does_not_fit_beside_it_is_one_sentence() -> None:
    budget = Budget(10 * 10**9)
    kept = shelf(budget, "kept")
    kept.put("a", 6 * 10**9)
    with budget.claim("training", 7 * 10**9):
        assert budget.usage() == {"training": 7 * 10**9}
        assert not kept.put("a", 6 * 10**9)
        with pytest.raises(UserError, match=r"needs 4,000 MB of memory, but the server has only 3,000 MB left"):
            kept.make("b", lambda take: take(4 * 10**9) or 0)
        with pytest.raises(UserError), budget.claim("training", 4 * 10**9):
            pytest.fail("there was no room")
    assert budget.usage() == {}
    assert kept.put("a", 6 * 10**9)


def test_what_cannot_be_made_again_goes_last_and_only_for_what_is_needed() -> None:
    budget = Budget(10)
    copies, drawn = shelf(budget, "copies", lasting=True), shelf(budget, "drawings")
    copies.put("first", 4)
    copies.put("second", 4)
    drawn.put("a", 2)
    assert not drawn.put("b", 3)  # a drawing is merely kept
    with pytest.raises(UserError), budget.claim("learning curve", 3, throw_away=True):
        pytest.fail("it is thrown away in the end")
    assert budget.usage() == {"copies": 8, "drawings": 2}
    with budget.claim("training", 2):
        assert budget.usage() == {"copies": 8, "training": 2}
    drawn.put("a", 2)
    with budget.claim("training", 3):
        assert budget.usage() == {"copies": 4, "training": 3}
        assert "second" in copies


def test_what_is_in_use_stays() -> None:
    budget, used = Budget(10), {4}
    copies = shelf(budget, "copies", lasting=True, in_use=used.__contains__)
    copies.put("a", 4)
    copies.put("b", 3)
    copies.make("c", lambda take: take(5) or 5)
    assert ("a" in copies, "b" in copies, "c" in copies) == (True, False, True)
    with pytest.raises(UserError), budget.claim("training", 7):
        pytest.fail("only six are free")
    used.clear()
    with budget.claim("training", 7):
        assert len(copies) == 0


class Block:
    """A value of a size, which can be followed."""

    def __init__(self, size: int) -> None:
        self.size = size


def test_what_went_while_a_reader_uses_it_counts_and_comes_back() -> None:
    budget = Budget(10)
    kept: Recent[Block] = Recent(size=lambda block: block.size, budget=budget, kind="kept")
    kept.put("a", used := Block(4))
    kept.put("b", Block(4))
    kept.put("c", Block(5))  # for which both have to go, since "a" is in use
    assert ("a" in kept, "b" in kept, "c" in kept) == (False, False, True)
    assert budget.usage() == {"kept": 9}
    assert kept.get("a") is used
    assert (len(kept), budget.usage()) == (2, {"kept": 9})
    del used
    kept.put("d", Block(10))
    assert (len(kept), budget.usage()) == (1, {"kept": 10})


def test_who_needs_room_waits_until_what_went_is_used_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(10)
    kept: Recent[Block] = Recent(size=lambda block: block.size, budget=budget, kind="kept")
    kept.put("a", Block(6))
    using = [kept.get("a")]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(kept.make, "b", lambda take: take(6) or Block(6))
        until(lambda: len(budget.lock._waiters) == 1)  # type: ignore[attr-defined]
        using.clear()
        assert waiting.result(timeout=30).size == 6
    using.append(kept.get("b"))
    monkeypatch.setattr(memory_budget, "PATIENCE", 0.0)
    with pytest.raises(UserError, match="try again later"):
        kept.make("c", lambda take: take(6) or Block(6))
    assert kept.get("b") is using[0]


def test_room_is_made_before_it_is_taken() -> None:
    budget = Budget(10)
    kept, seen = shelf(budget, "kept"), []
    kept.put("a", 8)

    def make(take: Callable[[float], None]) -> int:
        seen.append(budget.usage())
        take(7)
        seen.append(budget.usage())
        return 5  # less than was thought

    assert kept.make("b", make) == 5
    assert seen == [{"kept": 8}, {"kept": 7}]
    assert budget.usage() == {"kept": 5}


def test_what_is_being_made_is_made_once_and_who_wants_another_never_waits() -> None:
    budget = Budget(10)
    kept, other = shelf(budget, "kept"), shelf(budget, "other")
    began, go_on, made = threading.Event(), threading.Event(), []

    def slow(take: Callable[[float], None]) -> int:
        made.append("slow")
        take(3)
        began.set()
        assert go_on.wait(timeout=30)
        return 3

    with ThreadPoolExecutor(8) as pool:
        try:
            asked = [pool.submit(kept.make, "slow", slow) for _ in range(5)]
            assert began.wait(timeout=30)
            assert pool.submit(kept.make, "quick", lambda take: take(2) or 2).result(timeout=30) == 2
            assert pool.submit(other.put, "beside", 1).result(timeout=30)
            assert not any(one.done() for one in asked)
        finally:
            go_on.set()
        assert [one.result(timeout=30) for one in asked] == [3] * 5
    assert made == ["slow"]
    assert budget.usage() == {"kept": 5, "other": 1}


def test_what_has_no_room_beside_what_others_load_waits_for_that() -> None:
    budget = Budget(10)
    kept, both = shelf(budget, "kept"), threading.Barrier(2)

    def make(key: str) -> int:
        both.wait(timeout=30)
        return kept.make(key, lambda take: take(7) or 7)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(make, "ab")) == [7, 7]
    assert budget.usage() == {"kept": 7}  # of the one that came later

    began, go_on = threading.Event(), threading.Event()

    def slow(take: Callable[[float], None]) -> int:
        take(7)
        began.set()
        assert go_on.wait(timeout=30)
        return 7

    with ThreadPoolExecutor(2) as pool:
        try:
            loading = pool.submit(kept.make, "slow", slow)
            assert began.wait(timeout=30)
            waiting = pool.submit(kept.make, "next", lambda take: take(8) or 8)
            until(lambda: len(budget.lock._waiters) == 1)  # type: ignore[attr-defined]
            with pytest.raises(UserError), budget.claim("training", 11):
                pytest.fail("waiting would not help")
        finally:
            go_on.set()
        assert (loading.result(timeout=30), waiting.result(timeout=30)) == (7, 8)
    assert budget.usage() == {"kept": 8}


def test_a_failure_is_told_to_all_who_ask_and_the_next_tries_again() -> None:
    budget = Budget(10)
    kept, began, go_on, tried = shelf(budget, "kept"), threading.Event(), threading.Event(), []

    def fail(take: Callable[[float], None]) -> int:
        tried.append("")
        take(4)
        began.set()
        assert go_on.wait(timeout=30)
        raise UserError("The hub does not answer.")

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(kept.make, "a", fail)
        assert began.wait(timeout=30)
        others = [pool.submit(kept.make, "a", fail) for _ in range(3)]
        waiting = kept._making["a"]
        try:
            until(lambda: len(waiting._condition._waiters) == 3)  # type: ignore[attr-defined]
        finally:
            go_on.set()
        for one in (first, *others):
            with pytest.raises(UserError, match="does not answer"):
                one.result(timeout=30)
    assert len(tried) == 1
    assert budget.usage() == {}
    assert kept.make("a", lambda take: take(4) or 4) == 4


def test_a_cache_that_is_gone_holds_nothing() -> None:
    budget = Budget(10)
    kept = shelf(budget, "kept")
    kept.put("a", 4)
    del kept
    gc.collect()
    assert budget.usage() == {}


def test_a_once_cache_counts_what_it_keeps() -> None:
    budget = Budget(10)
    cache: OnceCache[None, str] = OnceCache(8, lambda result: len(result[0]), budget, "drawings")

    def drawn(text: str) -> Any:
        yield from ()
        return text

    assert cache.get("a", lambda: drawn("four"), None) == "four"
    assert budget.usage() == {"drawings": 4}


def test_many_threads_keep_within_it_and_nobody_fails() -> None:
    budget, readers = Budget(30), 6  # room for what all of them make at one time
    shelves = [shelf(budget, "models"), shelf(budget, "runs", most=8), shelf(budget, "copies", lasting=True)]
    together, beyond = threading.Barrier(readers), []

    def read(number: int) -> None:
        together.wait(timeout=30)
        for step in range(400):
            kept, size = shelves[(number + step) % 3], 1 + (number * step) % 5
            kept.put(step % 7, size)
            assert kept.make((number, step % 5), lambda take, size=size: take(size) or size) in range(1, 6)
            kept.get(step % 7)
            if step % 10 == 0:
                with budget.claim("training", 2):
                    kept.pop((number, step % 5))
            if sum(budget.usage().values()) > budget.most:
                beyond.append(budget.usage())

    with ThreadPoolExecutor(readers) as pool:
        for one in [pool.submit(read, number) for number in range(readers)]:
            one.result(timeout=60)
    assert beyond == []
    for kept in shelves:
        assert kept.total == sum(entry.size for entry in kept._values.values())
    assert sum(budget.usage().values()) == sum(kept.total for kept in shelves) <= budget.most

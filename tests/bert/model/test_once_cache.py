"""The cache of what was used last: within its bound, the least recently used out first, nothing too large kept."""

import threading

from demos.bert.model.once_cache import ObjectNumbers, Recent


def test_the_least_recently_used_goes() -> None:
    recent: Recent[int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1  # used, so that "b" is the older
    recent.put("c", 3)
    assert [recent.get(key) for key in "abc"] == [1, None, 3]
    assert len(recent) == 2


def test_sizes_add_up_and_what_is_larger_than_the_bound_puts_nothing_out() -> None:
    recent: Recent[bytes] = Recent(10, len)
    recent.put("a", b"12345")
    recent.put("a", b"123456")  # again: counted once
    assert recent.total == 6
    recent.put("b", b"x" * 11)
    assert (recent.get("a"), recent.get("b")) == (b"123456", None)
    recent.put("c", b"12345")
    assert (recent.get("a"), recent.total) == (None, 5)


def test_many_threads_stay_within_the_bound() -> None:
    recent: Recent[int] = Recent(20, lambda value: value)
    threads = [
        threading.Thread(target=lambda at=at: [recent.put((at, k), k % 7) for k in range(300)]) for at in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recent.total == sum(entry.value for entry in recent._values.values()) <= 20


class Thing:
    """An object that is equal to no other."""


def test_an_object_keeps_its_number_and_no_later_object_has_it() -> None:
    numbers, first = ObjectNumbers(), Thing()
    number = numbers.of(first)
    assert numbers.of(first) == number
    del first  # its memory, and so its id, may be the next object's
    assert number not in {numbers.of(Thing()) for _ in range(100)}

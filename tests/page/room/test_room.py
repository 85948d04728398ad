"""A room by itself: who leads, bounds of everything, votes and sentences. Time is told by the test."""

import random
from collections import Counter
from collections.abc import Callable

import orjson
import pytest

from demos.errors import UserError
from demos.page.room import room as module
from demos.page.room.channel import Channel
from demos.page.room.limits import Allowance, checked_text
from demos.page.room.room import AWAY_SECONDS, Member, Room, TooOftenError, WrongKeyError
from demos.page.room.rooms import LETTERS, MOST_ROOMS, ROOM_SECONDS, NoRoomError, Rooms
from tests.run_coroutine import run

HOSTILE = "<img src=x onerror=alert(1)>\u202e{{7*7}}\n\x00${7*7}"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(clock: Clock) -> Room:
    return Room("ABCD", {"tokens", "encoder"}, clock() + ROOM_SECONDS, clock)


def read(channel: Channel) -> dict[str, object]:
    """What a stream would send now, by name."""
    lines = (run(channel.take()) if channel.waiting else b"").decode().split("\n\n")
    told: dict[str, object] = {}
    for line in lines:
        told |= orjson.loads(line.removeprefix("data: ")) if line else {}
    return told


def in_loop(function: Callable[[], object]) -> None:
    """Call it where a loop runs, as the server's does."""

    async def call() -> None:
        function()

    run(call())


def test_only_the_key_leads(room: Room) -> None:
    room.check_leader(room.key)
    for wrong in ("", None, 7, room.key[:-1], room.key + "x", room.leader.key, "\ud800é", room.join().key, ["x"]):
        with pytest.raises(WrongKeyError):
            room.check_leader(wrong)
    assert len({Room("ABCD", {}, 0.0, Clock()).key for _ in range(100)}) == 100
    assert len(room.key) >= 24


def test_who_comes_later_is_told_the_state_and_not_what_is_the_lecturers(room: Room) -> None:
    room.show("tokens", "text=A+bank&model=minilm")
    room.ask("Which?", ["a", "b"], [1])
    member = room.join()
    room.answer(member, 1, 1, 0)
    told = read(room.listen(room.join()))
    assert told == {
        "room": {"code": "ABCD"},
        "view": {"lesson": "tokens", "query": "text=A+bank&model=minilm"},
        "vote": {"number": 1, "question": "Which?", "answers": ["a", "b"], "round": 1, "revealed": False, "part": ""},
    }
    leaders = read(room.listen(room.leader))
    counted = {"number": 1, "tallies": [[1, 0]], "moves": [[0, 0], [0, 0]], "right": [1]}
    assert (leaders["tally"], leaders["here"]) == (counted, 1)


def test_a_view_is_a_lesson_and_a_query(room: Room) -> None:
    for lesson, query in (
        ("none", ""),
        ("tokens", "a b"),
        ("tokens", "é"),
        ("tokens", "x" * 6_201),
        ([], ""),
        ("tokens", 7),
    ):
        with pytest.raises(UserError):
            room.show(lesson, query)
    assert "view" not in room.state


def test_a_slow_reader_is_sent_the_newest_alone(room: Room) -> None:
    channel = room.listen(room.join())
    for number in range(1_000):
        room.show("tokens", f"token={number}")
    assert len(channel.waiting) == 2
    assert read(channel)["view"] == {"lesson": "tokens", "query": "token=999"}


def test_a_vote_is_counted_once_a_member_and_put_twice(room: Room) -> None:
    members = [room.join() for _ in range(30)]
    room.ask("Which layer?", ["first", "middle", "last"], [1])
    given = [number % 3 for number in range(30)]
    for member, place in zip(members, given, strict=True):
        room.answer(member, 1, 1, 2 - place)
        room.answer(member, 1, 1, place)  # a change of mind
    counts = Counter(given)
    assert room.vote is not None
    assert room.vote.tallies == [[counts[place] for place in range(3)]]
    room.reveal()
    with pytest.raises(UserError):
        room.answer(members[0], 1, 1, 0)
    room.vote_again()
    assert "tallies" not in room.vote.public_state()  # nothing is told of the second before it is shown
    for member in members:
        room.answer(member, 1, 2, 1)
    for number, round_ in ((1, 1), (2, 2), (None, None)):
        with pytest.raises(UserError):
            room.answer(members[0], number, round_, 0)
    room.reveal()
    assert room.vote.public_state()["tallies"] == [[10, 10, 10], [0, 30, 0]]
    assert room.vote.public_state()["right"] == (1,)
    with pytest.raises(UserError):
        room.vote_again()
    assert not any(member.key.encode() in event for member in members for event in room.state.values())  # never who
    room.end_vote()
    assert room.vote is None
    assert "vote" not in room.state


def test_the_lecturer_alone_learns_how_many_moved_from_which_answer_to_which(room: Room) -> None:
    draw = random.Random(0)
    members = [room.join() for _ in range(60)]
    lecturers, others = room.listen(room.leader), room.listen(members[0])
    room.ask("Which layer?", ["first", "middle", "last"], [1])
    given: list[dict[int, int]] = [{}, {}]
    for round_ in (1, 2):
        for number in draw.sample(range(60), 45):  # some vote once only
            given[round_ - 1][number] = place = draw.randrange(3)
            room.answer(members[number], 1, round_, place)
        if round_ == 1:
            room.vote_again()
    room.reveal()
    pairs = Counter((given[0][number], place) for number, place in given[1].items() if number in given[0])
    counted = read(lecturers)["tally"]
    assert isinstance(counted, dict)
    assert counted["moves"] == [[pairs[first, second] for second in range(3)] for first in range(3)]
    assert 0 < sum(pairs.values()) < 45
    told = read(others)
    assert "tally" not in told
    assert "moves" not in orjson.dumps(told).decode()
    assert not any(member.key.encode() in orjson.dumps(counted) for member in members)
    room.mark(1, [2])
    marked = read(lecturers)["tally"]
    assert isinstance(marked, dict)
    assert marked["right"] == [2]


def test_a_stop_of_the_lecturers_own_tour(room: Room) -> None:
    channel = room.listen(room.join())
    room.show_stop({"title": f"Pieces {HOSTILE}", "text": f"See **this** {HOSTILE} [x](javascript:alert(1))"})
    told = read(channel)["stop"]
    assert isinstance(told, dict)
    assert "<strong>this</strong>" in told["html"]
    assert "<img" not in told["html"]
    assert "href" not in told["html"]
    room.show_stop({"title": f"Pieces {HOSTILE}", "text": f"See **this** {HOSTILE} [x](javascript:alert(1))"})
    assert not channel.waiting  # nobody is told the same again
    for wrong in (7, "x", {}, {"title": "a"}, {"title": 7, "text": "b"}, {"title": "", "text": "b"}):
        with pytest.raises(UserError):
            room.show_stop(wrong)
    for title, text in (("a", "b" * 2_001), ("a" * 301, "b")):
        with pytest.raises(UserError):
            room.show_stop({"title": title, "text": text})
    room.show_stop(None)
    assert read(channel) == {"stop": None}
    assert "stop" not in room.state


def test_the_right_answers_are_named_later_and_told_with_the_result(room: Room) -> None:
    number = room.ask("Which layer?", ["first", "middle", "last"])
    room.mark(number, [2, 0])
    assert b"right" not in room.state["vote"]
    room.reveal()
    assert orjson.loads(room.state["vote"][6:])["vote"]["right"] == [0, 2]
    room.mark(number, [1])  # it took longer to compute than to vote
    assert orjson.loads(room.state["vote"][6:])["vote"]["right"] == [1]
    room.ask("Which?", ["a", "b"])
    room.mark(number, [0])  # that vote is over
    assert room.vote is not None
    assert room.vote.right == ()
    with pytest.raises(UserError):
        room.mark(room.vote.number, [2])
    room.end_vote()
    room.mark(number, [0])


@pytest.mark.parametrize(
    ("question", "answers", "right"),
    [
        *[("", ["a", "b"], []), ("?" * 301, ["a", "b"], []), ("Which?", ["a"], []), ("Which?", ["a"] * 6, [])],
        *[("Which?", ["a", "a "], []), ("Which?", ["a", "x" * 121], []), ("Which?", ["a", 7], [])],
        *[("Which?", "ab", []), ("Which?", ["a", "b"], [2]), ("Which?", ["a", "b"], [True]), (None, ["a", "b"], [])],
        *[("Which?", {"a": 1, "b": 2}, []), ("Which?", ["a", ""], []), ("Which?", ["a", "\u202e"], [])],
        *[("Which?", ["a", "b"], right) for right in (1, None, "0", [0, -1], [None])],
    ],
)
def test_a_question_that_can_t_be_put(room: Room, question: object, answers: object, right: object) -> None:
    with pytest.raises(UserError):
        room.ask(question, answers, right)
    assert room.vote is None


@pytest.mark.parametrize("part", [7, ["a"], "x" * 61])
def test_a_part_that_no_question_is_of(room: Room, part: object) -> None:
    with pytest.raises(UserError):
        room.ask("Which?", ["a", "b"], (), part)
    assert room.vote is None


@pytest.mark.parametrize("place", [-1, 2, True, "0", 0.0, None, [0]])
def test_an_answer_that_there_is_not(room: Room, place: object) -> None:
    room.ask("Which?", ["a", "b"])
    with pytest.raises(UserError):
        room.answer(room.join(), 1, 1, place)


def test_limits_are_a_member_s_own(room: Room, clock: Clock) -> None:
    room.ask("Which?", ["a", "b"])
    busy, other = room.join(), room.join()

    def answers(member: Member) -> int:
        taken = 0
        for _ in range(100):
            try:
                room.answer(member, 1, 1, 0)
            except TooOftenError:
                break
            taken += 1
        return taken

    assert answers(busy) == 10
    assert answers(other) == 10  # one's flood is not another's
    clock.now += 3
    assert answers(busy) == 3


def test_sentences_are_bounded_and_stay_in_the_list(room: Room, clock: Clock) -> None:
    member = room.join()
    room.send_sentence(member, HOSTILE)
    (text,) = room.sentences.values()
    assert text == "<img src=x onerror=alert(1)> {{7*7}} ${7*7}"  # text, which the page shows as such
    for wrong in (HOSTILE, "", " \u200e\n", "x" * 301, "x" * 10**6, None, 7, ["a"]):
        with pytest.raises(UserError):
            room.send_sentence(member, wrong)
    assert "sentences" not in room.state  # only the lecturer is told, and of their number alone
    assert orjson.loads(room.for_leader["sentences"].removeprefix(b"data: ")) == {"sentences": 1}
    for number in range(2, 4):
        room.send_sentence(member, f"Sentence {number}.")
    with pytest.raises(TooOftenError, match="Wait"):
        room.send_sentence(member, "One too soon.")
    for number in range(4, module.MOST_PER_MEMBER + 1):
        clock.now += 10
        room.send_sentence(member, f"Sentence {number}.")
    clock.now += 1_000
    with pytest.raises(TooOftenError, match="others"):
        room.send_sentence(member, "One too many.")
    room.drop_sentence(1)
    room.drop_sentence("none")
    assert len(room.sentences) == module.MOST_PER_MEMBER - 1
    for number in range(module.MOST_SENTENCES):
        if len(room.sentences) < module.MOST_SENTENCES:
            room.send_sentence(room.join(), f"Another {number}.")
    with pytest.raises(UserError, match="full"):
        room.send_sentence(room.join(), "And one more.")


def test_a_full_room_takes_the_place_of_who_is_away(room: Room, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MEMBERS", 3)
    first, second, third = (room.join() for _ in range(3))
    for member in (second, third):
        room.listen(member)
    with pytest.raises(UserError, match="full"):
        room.join()
    clock.now += AWAY_SECONDS
    room.join()
    assert first.key not in room.members
    assert {second.key, third.key} < room.members.keys()


def test_a_copied_tab_is_one_more_stream_and_many_are_not(room: Room) -> None:
    member = room.join()
    channels = [room.listen(member) for _ in range(module.MOST_STREAMS + 1)]
    assert [channel.is_over for channel in channels] == [True, False, False, False]
    assert read(channels[0])["moved"] is True
    for channel in channels:
        room.unlisten(member, channel)
    assert not member.channels


def test_rooms_are_bounded_and_end(clock: Clock) -> None:
    def scene() -> None:
        rooms = Rooms({"tokens"}, clock=clock)
        opened = []
        for _ in range(MOST_ROOMS):
            opened.append(rooms.open())
            opened[-1].listen(opened[-1].leader)
        assert len({room.code for room in opened}) == MOST_ROOMS
        assert all(len(room.code) == 4 and set(room.code) <= set(LETTERS) for room in opened)
        assert not set("ILO") & set(LETTERS)
        clock.now += 100
        with pytest.raises(UserError, match="rooms already"):
            rooms.open()
        leader = opened[3].leader
        opened[3].unlisten(leader, leader.channels[0])
        with pytest.raises(UserError):
            rooms.open()
        clock.now += AWAY_SECONDS
        rooms.open()  # in the place of the one that nobody is in
        with pytest.raises(NoRoomError):
            rooms.room(opened[3].code)
        assert rooms.room(f" {opened[4].code.lower()} ") is opened[4]
        channel = opened[4].leader.channels[0]
        clock.now += ROOM_SECONDS
        for wrong in (opened[4].code, "", None, 7, "x" * 1_000):
            with pytest.raises(NoRoomError):
                rooms.room(wrong)
        assert channel.is_over
        assert len(rooms.rooms) == 0

    in_loop(scene)


def test_rooms_are_opened_by_people(clock: Clock) -> None:
    def scene() -> None:
        rooms = Rooms({"tokens"}, clock=clock)
        for _ in range(MOST_ROOMS):
            rooms.close(rooms.open())
        with pytest.raises(TooOftenError):
            rooms.open()

    in_loop(scene)


def test_a_replica_s_codes_begin_with_its_letter() -> None:
    assert {Rooms({}, first="B")._code()[0] for _ in range(50)} == {"B"}
    with pytest.raises(UserError):
        Rooms({}, first="b1")


def test_an_allowance_fills_again() -> None:
    clock = Clock()
    allowance = Allowance(2, 0.5, clock)
    assert [allowance.take() for _ in range(3)] == [True, True, False]
    clock.now += 2
    assert [allowance.take() for _ in range(2)] == [True, False]
    clock.now += 1_000
    assert [allowance.take() for _ in range(3)] == [True, True, False]


def test_texts_keep_their_letters() -> None:
    for text in ("می‌خواهم", "👩‍🏫 reads", "a 'quote' & <b>"):
        assert checked_text(text, "It", 50) == text

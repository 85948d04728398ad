"""One room: its members, the events for them, its vote, and the sentences that they sent."""

import hmac
import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from demos.errors import UserError
from demos.page.room.channel import Channel, encoded
from demos.page.room.dataset import HallData
from demos.page.room.limits import Allowance, checked_text
from demos.page.room.stops import card_of
from demos.page.room.votes import Vote, new_vote

MOST_MEMBERS = 500
MOST_STREAMS = 3  # of a member: a tab that was copied is one more
AWAY_SECONDS = 60.0  # without a stream, after which a member gives way where the room is full
MOST_SENTENCES, MOST_PER_MEMBER, LONGEST_SENTENCE = 200, 20, 300  # in the list; of one member; characters
LONGEST_QUERY = 6_200  # characters of a view's link: link.js makes none that is longer
QUERY = re.compile(r"[!-~]*")
MOST_RUNS = 4  # whose models the members may open: as many as the server keeps of one reader


class WrongKeyError(UserError):
    """Somebody else's room."""


class TooOftenError(UserError):
    """More at once than a person does."""


def new_key() -> str:
    """24 characters that nobody can guess."""
    return secrets.token_urlsafe(18)


@dataclass
class Member:
    """Somebody in the room, known by a key alone."""

    key: str
    allowance: Allowance  # of answers
    sentences: Allowance
    looks: Allowance  # at the run's curve
    questions: Allowance  # to its model
    labels: Allowance  # for a data set
    sent: int = 0  # sentences in all
    channels: list[Channel] = field(default_factory=list)
    left_at: float = 0.0  # when the last stream closed


class Room:
    """See above. For the event loop alone: nothing here waits, and nothing is locked."""

    def __init__(self, code: str, lessons: Collection[str], ends: float, clock: Callable[[], float]) -> None:
        self.code, self.lessons, self.ends, self.clock = code, lessons, ends, clock
        self.key = new_key()  # the key whose holder leads
        self.members: dict[str, Member] = {}
        self.leader = self._member()  # not in any list of members; its stream gets more events
        self.state: dict[str, bytes] = {}  # by name, the last event for all
        self.for_leader: dict[str, bytes] = {}  # and for the lecturer alone
        self.leading = Allowance(40, 20, clock)
        self.joining = Allowance(2 * MOST_MEMBERS, 20, clock)
        self.data: HallData | None = None
        self.runs: tuple[str, ...] = ()  # the names of the lecturer's latest runs (runs.py), the newest last
        self.vote: Vote | None = None
        self.votes = 0
        self.sentences: dict[int, str] = {}
        self.last_sentence = 0
        self.tell("room", {"code": code})
        self._tell_leader("here", 0)

    def _member(self) -> Member:
        def allowed(most: float, per_second: float) -> Allowance:
            return Allowance(most, per_second, self.clock)

        limits = allowed(10, 1), allowed(3, 0.2), allowed(10, 3), allowed(5, 0.5), allowed(10, 1)
        return Member(new_key(), *limits, left_at=self.clock())

    # Members

    def join(self) -> Member:
        """A new member. Raises UserError where the room is full."""
        if not self.joining.take():
            raise TooOftenError("Too many people are joining this room at the moment; try again in a minute.")
        if len(self.members) >= MOST_MEMBERS:
            away = [member for member in self.members.values() if not member.channels]
            longest = min(away, key=lambda member: member.left_at, default=None)
            if longest is None or self.clock() - longest.left_at < AWAY_SECONDS:
                raise UserError(f"This room is full: it has {MOST_MEMBERS} members.")
            del self.members[longest.key]
        member = self._member()
        self.members[member.key] = member
        return member

    def leave(self, key: str) -> None:
        """A member goes; unknown ones are fine."""
        if member := self.members.pop(key, None):
            for channel in member.channels:
                channel.end()

    def member(self, key: object) -> Member:
        """Raises WrongKeyError for somebody who is no member."""
        if isinstance(key, str):
            if key in self.members:
                return self.members[key]
            if hmac.compare_digest(key.encode(), self.leader.key.encode()):
                return self.leader
        raise WrongKeyError("You are not in this room; join it by its code.")

    def check_leader(self, key: object) -> None:
        """Raises WrongKeyError for someone who does not lead, TooOftenError for a leader who sends too much."""
        sent_key = key if isinstance(key, str) else ""
        if not hmac.compare_digest(sent_key.encode("utf-8", "replace"), self.key.encode()):
            raise WrongKeyError("Only the person who opened the room can do this.")
        if not self.leading.take():
            raise TooOftenError("Too many changes at once.")

    def listen(self, member: Member) -> Channel:
        """A stream for a member, which begins with the state; the oldest of too many ends."""
        channel = Channel()
        for name, event in (self.state | (self.for_leader if member is self.leader else {})).items():
            channel.put(name, event)
        member.channels.append(channel)
        if len(member.channels) > MOST_STREAMS:
            oldest = member.channels.pop(0)
            oldest.put("moved", encoded("moved", True))
            oldest.end()
        self._count()
        return channel

    def unlisten(self, member: Member, channel: Channel) -> None:
        """The stream has ended."""
        if channel in member.channels:
            member.channels.remove(channel)
        member.left_at = self.clock()
        self._count()

    def _count(self) -> None:
        self._tell_leader("here", sum(bool(member.channels) for member in self.members.values()))

    @property
    def is_empty(self) -> bool:
        """Whether nobody has been in it for a minute, its opener neither."""
        everyone = (self.leader, *self.members.values())
        return not any(member.channels or self.clock() - member.left_at < AWAY_SECONDS for member in everyone)

    def close(self) -> None:
        """End the room: all members are notified, and their streams end."""
        self.tell("over", True)
        for member in (self.leader, *self.members.values()):
            for channel in member.channels:
                channel.end()

    # Events for all members

    def tell(self, name: str, value: Any) -> None:
        """An event for all, and for who comes later; None takes it back."""
        event = encoded(name, value)
        self.state.pop(name, None)
        if value is not None:
            self.state[name] = event
        for member in (self.leader, *self.members.values()):
            for channel in member.channels:
                channel.put(name, event)

    def _tell_leader(self, name: str, value: Any) -> None:
        self.for_leader[name] = event = encoded(name, value)
        for channel in self.leader.channels:
            channel.put(name, event)

    def show(self, lesson: object, query: object) -> None:
        """Note the view of the lecturer's page: a lesson, and the query of its link.

        Raises UserError for what can't be.
        """
        if not isinstance(lesson, str) or lesson not in self.lessons:
            raise UserError("There is no such lesson.")
        if not isinstance(query, str) or len(query) > LONGEST_QUERY or not QUERY.fullmatch(query):
            raise UserError("This is not a link to the page.")
        self.tell("view", {"lesson": lesson, "query": query})

    def show_stop(self, stop: object) -> None:
        """Note the stop of the lecturer's own tour (stops.py). Raises UserError."""
        card = card_of(stop)
        if self.state.get("stop") != (encoded("stop", card) if card else None):
            self.tell("stop", card)

    def show_run(self, name: str) -> None:
        """The lecturer's run is under way, for all to see."""
        self.runs = (*(run for run in self.runs if run != name), name)[-MOST_RUNS:]
        self.tell("run", name)

    @property
    def run(self) -> str:
        """The name of the newest run; "" before the first."""
        return self.runs[-1] if self.runs else ""

    # Votes

    def ask(self, question: object, answers: object, right: object = (), part: object = "") -> int:
        """Put a question to the room, in the place of the one before. -> its number.

        `part` is the lesson/part whose own question it is.
        """
        self.vote = new_vote(self.votes + 1, question, answers, right, part)
        self.votes += 1
        self._tell_vote()
        return self.vote.number

    def mark(self, number: object, right: object) -> None:
        """Name the correct answers of the vote of this number, if it is still under way; they are not sent before the
        reveal.
        """
        if self.vote is not None and self.vote.number == number:
            self.vote.mark(right)
            if self.vote.revealed:
                self._tell_vote()
            else:
                self._tell_leader("tally", self.vote.leaders_state())

    def answer(self, member: Member, number: object, round_: object, place: object) -> None:
        """A member's answer to the vote that is open."""
        if self.vote is None or self.vote.number != number:
            raise UserError("This vote is closed.")
        if not member.allowance.take():
            raise TooOftenError("Wait a moment before you change your answer again.")
        self.vote.answer(member.key, round_, place)
        self._tell_leader("tally", self.vote.leaders_state())

    def reveal(self) -> None:
        """Show the tallies to all, with the right answer where the lecturer has named it."""
        self._open_vote().revealed = True
        self._tell_vote()

    def vote_again(self) -> None:
        """The same question once more; the first answers are shown beside the second in the end."""
        self._open_vote().again()
        self._tell_vote()

    def end_vote(self) -> None:
        """Remove the question from all screens, together with all answers."""
        self.vote = None
        self.tell("vote", None)

    def _open_vote(self) -> Vote:
        if self.vote is None:
            raise UserError("There is no vote.")
        return self.vote

    def _tell_vote(self) -> None:
        vote = self._open_vote()
        self.tell("vote", vote.public_state())
        self._tell_leader("tally", vote.leaders_state())

    # Sentences from the hall

    def send_sentence(self, member: Member, sentence: object) -> None:
        """Put a sentence into the lecturer's list. Raises UserError where it can't be taken."""
        text = checked_text(sentence, "A sentence", LONGEST_SENTENCE)
        if member.sent >= MOST_PER_MEMBER:
            raise TooOftenError(f"You have sent {MOST_PER_MEMBER} sentences; let others have a turn.")
        if len(self.sentences) >= MOST_SENTENCES:
            raise UserError("The lecturer's list is full.")
        if text in self.sentences.values():
            raise UserError("This sentence was sent already.")
        if not member.sentences.take():
            raise TooOftenError("Wait a few seconds before you send another sentence.")
        member.sent += 1
        self.last_sentence += 1
        self.sentences[self.last_sentence] = text
        self._tell_leader("sentences", len(self.sentences))

    def drop_sentence(self, number: object) -> None:
        """Take a sentence out of the list: it was picked, or is not wanted. Unknown ones are fine."""
        if type(number) is int:
            self.sentences.pop(number, None)
        self._tell_leader("sentences", len(self.sentences))

    def clear_sentences(self) -> None:
        """Empty the list."""
        self.sentences.clear()
        self._tell_leader("sentences", 0)

    # A data set from the hall

    def collect(self, classes: object) -> None:
        """Ask all for sentences of these classes; the earlier ones are deleted. Raises UserError."""
        self.data = HallData(classes)
        self.tell("data", {"classes": self.data.classes})
        self._tell_leader("collected", 0)

    def end_collecting(self) -> None:
        """No more sentences; the collected ones are deleted."""
        self.data = None
        self.tell("data", None)

    def collected(self) -> HallData:
        """Raises UserError where no data set is under way."""
        if self.data is None:
            raise UserError("No sentences are collected at the moment.")
        return self.data

    def contribute(self, member: Member, text: object, number: object, place: object) -> tuple[int, str] | None:
        """A member's sentence, or a label for that of another by its number. -> the next one to label."""
        data = self.collected()
        if place is not None:
            if not member.labels.take():
                raise TooOftenError("Wait a moment before you go on.")
            if number is None:
                data.write(member.key, text, place)
            else:
                data.label(member.key, number, place)
            self._tell_leader("collected", len(data.texts))
        return data.next_for(member.key)

    def drop_collected(self, number: object) -> None:
        """Take a sentence out of the data set."""
        data = self.collected()
        data.drop(number)
        self._tell_leader("collected", len(data.texts))

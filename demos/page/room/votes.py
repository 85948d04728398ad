"""A question put to the room: who has answered what, twice at most (peer instruction: Crouch and Mazur, 2001)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from demos.errors import UserError
from demos.files import Json
from demos.page.room.limits import checked_text

LONGEST_QUESTION, LONGEST_ANSWER, LONGEST_PART = 300, 120, 60  # characters
LEAST_ANSWERS, MOST_ANSWERS = 2, 5
MOST_ROUNDS = 2


@dataclass
class Vote:
    """One question. A round holds each member's answer, by the member's key, until the vote is over."""

    number: int  # in its room, from 1
    question: str
    answers: tuple[str, ...]
    right: tuple[int, ...] = ()  # the positions of the correct answers, sent when they are revealed
    part: str = ""  # lesson/part whose own question it is; the pages hide its picture until the result is shown
    revealed: bool = False
    rounds: list[dict[str, int]] = field(default_factory=lambda: [{}])

    @property
    def tallies(self) -> list[list[int]]:
        """For each round, how many chose each answer."""
        return [
            [list(answers_by_member.values()).count(place) for place in range(len(self.answers))]
            for answers_by_member in self.rounds
        ]

    @property
    def moves(self) -> list[list[int]]:
        """Of those who answered in both rounds, how many chose answer i first and answer j second: counts [k][k]."""
        counts = [[0] * len(self.answers) for _ in self.answers]
        first, second = self.rounds if len(self.rounds) == MOST_ROUNDS else ({}, {})
        for member, place in second.items():
            if member in first:
                counts[first[member]][place] += 1
        return counts

    def answer(self, member: str, round_: Any, place: Any) -> None:
        """A member's answer, or a change of mind. Raises UserError once the tally is shown, or where there is none."""
        if self.revealed or round_ != len(self.rounds):
            raise UserError("This vote is closed.")
        if type(place) is not int or not 0 <= place < len(self.answers):
            raise UserError("There is no such answer.")
        self.rounds[-1][member] = place

    def again(self) -> None:
        """Open the second round. Raises UserError where it is over too."""
        if len(self.rounds) >= MOST_ROUNDS:
            raise UserError(f"A question can be put to the vote {MOST_ROUNDS} times at most.")
        self.rounds.append({})
        self.revealed = False

    def mark(self, right: object) -> None:
        """Name the right answers by their places. Raises UserError for what are none."""
        if not isinstance(right, list | tuple):
            raise UserError("The correct answers must be a list of positions.")
        if any(type(place) is not int or not 0 <= place < len(self.answers) for place in right):
            raise UserError("The correct answer is not one of the answers.")
        self.right = tuple(sorted(set(right)))

    def public_state(self) -> Json:
        """The message on the vote for every member: no counts and no correct answer before they are revealed."""
        state = {
            "number": self.number,
            "question": self.question,
            "answers": self.answers,
            "round": len(self.rounds),
            "revealed": self.revealed,
            "part": self.part,
        }
        return state | ({"tallies": self.tallies, "right": self.right} if self.revealed else {})

    def leaders_state(self) -> Json:
        """The message for the lecturer alone: all that is counted, before the reveal too, and never whose it is."""
        return {"number": self.number, "tallies": self.tallies, "moves": self.moves, "right": self.right}


def new_vote(number: int, question: Any, answers: Any, right: Any = (), part: Any = "") -> Vote:
    """A vote as a lecturer writes it. Raises UserError."""
    if not isinstance(answers, Sequence) or isinstance(answers, str):
        raise UserError("The answers must be a list.")
    if not LEAST_ANSWERS <= len(answers) <= MOST_ANSWERS:
        raise UserError(f"A question has {LEAST_ANSWERS} to {MOST_ANSWERS} answers; this one has {len(answers)}.")
    checked = tuple(checked_text(answer, "An answer", LONGEST_ANSWER) for answer in answers)
    if len(set(checked)) < len(checked):
        raise UserError("Two answers are the same.")
    vote = Vote(number, checked_text(question, "The question", LONGEST_QUESTION), checked)
    if part:
        vote.part = checked_text(part, "A part's name", LONGEST_PART)
    vote.mark(right)
    return vote

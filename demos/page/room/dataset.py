"""A data set from the hall: sentences that members write, each labelled by several of them, and how far they agree."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from demos.errors import UserError
from demos.files import Json
from demos.page.room.limits import checked_text

FEWEST_CLASSES, MOST_CLASSES = 2, 6
LONGEST_CLASS, LONGEST_TEXT = 40, 300  # characters
MOST_TEXTS, MOST_PER_MEMBER = 1_000, 40  # in all; of one member


@dataclass
class Labelled:
    """A sentence, and the class that each member gave it, by the member's key; the first is its writer's."""

    text: str
    labels: dict[str, int] = field(default_factory=dict)

    @property
    def label(self) -> int:
        """The class that most members chose; among equals, the one that was chosen first."""
        return Counter(self.labels.values()).most_common(1)[0][0]


class HallData:
    """Classes, and the sentences by number."""

    def __init__(self, classes: object) -> None:
        """Raises UserError for what are no two to six names."""
        if not isinstance(classes, Sequence) or isinstance(classes, str):
            raise UserError("The classes must be a list.")
        if not FEWEST_CLASSES <= len(classes) <= MOST_CLASSES:
            raise UserError(f"A data set has {FEWEST_CLASSES} to {MOST_CLASSES} classes; this one has {len(classes)}.")
        self.classes = tuple(checked_text(name, "A class", LONGEST_CLASS) for name in classes)
        if len({name.casefold() for name in self.classes}) < len(self.classes):
            raise UserError("Two classes have the same name.")
        self.texts: dict[int, Labelled] = {}
        self._numbers: dict[str, int] = {}  # by the text in small letters
        self._last = 0

    def write(self, member: str, sentence: object, place: object) -> None:
        """A member's sentence with its class. Raises UserError for a blank or a duplicate, and beyond the bounds."""
        label = self._place(place)
        text = checked_text(sentence, "A sentence", LONGEST_TEXT)
        if text.casefold() in self._numbers:
            raise UserError("This sentence is in the data set already; write another.")
        if len(self.texts) >= MOST_TEXTS:
            raise UserError("The data set is full.")
        if sum(next(iter(labelled.labels)) == member for labelled in self.texts.values()) >= MOST_PER_MEMBER:
            raise UserError(f"You have written {MOST_PER_MEMBER} sentences; label those of others now.")
        self._last += 1
        self.texts[self._last] = Labelled(text, {member: label})
        self._numbers[text.casefold()] = self._last

    def label(self, member: str, number: object, place: object) -> None:
        """A member's class for somebody's sentence. One that was removed meanwhile is fine."""
        label = self._place(place)
        if type(number) is int and number in self.texts:
            self.texts[number].labels.setdefault(member, label)

    def next_for(self, member: str) -> tuple[int, str] | None:
        """The sentence that the fewest have labelled, among those that this member has not."""
        left = [
            (len(labelled.labels), number) for number, labelled in self.texts.items() if member not in labelled.labels
        ]
        if not left:
            return None
        _, number = min(left)
        return number, self.texts[number].text

    def drop(self, number: object) -> None:
        """Take a sentence out. Unknown ones are fine."""
        if type(number) is int and (gone := self.texts.pop(number, None)):
            del self._numbers[gone.text.casefold()]

    @property
    def agreement(self) -> tuple[float | None, int]:
        """The share of pairs of labels that agree, mean over the sentences with two or more; how many those are.

        Fleiss, 1971 (Measuring nominal scale agreement among many raters), equations 2 and 3.
        """
        shares = []
        for labelled in self.texts.values():
            if (count := len(labelled.labels)) > 1:
                pairs = sum(same * (same - 1) for same in Counter(labelled.labels.values()).values())
                shares.append(pairs / (count * (count - 1)))
        return (sum(shares) / len(shares) if shares else None), len(shares)

    def listed(self) -> list[Json]:
        """The lecturer's list: number, text, and how many chose each class."""
        places = range(len(self.classes))
        return [
            {
                "number": number,
                "text": labelled.text,
                "counts": [list(labelled.labels.values()).count(place) for place in places],
            }
            for number, labelled in self.texts.items()
        ]

    def rows(self) -> list[dict[str, str]]:
        """The data set as Fine-tune reads it."""
        return [{"text": labelled.text, "label": self.classes[labelled.label]} for labelled in self.texts.values()]

    def summary(self) -> Json:
        """The messages to the lecturer while the data set grows."""
        share, several = self.agreement
        counts = Counter(labelled.label for labelled in self.texts.values())
        return {
            "sentences": len(self.texts),
            "counts": [counts[place] for place in range(len(self.classes))],
            "agreement": share,
            "several": several,
        }

    def _place(self, place: object) -> int:
        if type(place) is not int or not 0 <= place < len(self.classes):
            raise UserError("There is no such class.")
        return place

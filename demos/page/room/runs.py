"""One run for all: the members see the curve of the lecturer's training, and try and open its model afterwards."""

import asyncio

from demos.errors import UserError
from demos.page.room.limits import checked_text
from demos.page.room.room import LONGEST_SENTENCE, TooOftenError
from demos.page.room.rooms import Rooms
from demos.page.services import Services
from demos.training.service.stored_runs import public_name
from demos.training.tasks.classification.data import Example

AT_ONCE, MOST_WAITING = 2, 100  # sentences that a model reads, and that wait for it
MOST_CLASSES = 5
NOT_YET = "The model can be tried once its training is over."


class RoomRuns:
    """For the event loop alone, but for `shown`; models are read and used in threads."""

    def __init__(self, services: Services, rooms: Rooms) -> None:
        self.services, self.rooms = services, rooms
        services.own_models.shown = self.shown
        self.shared = services.trainings.shared
        self.turns = asyncio.Semaphore(AT_ONCE)
        self.waiting = 0

    def share(self, run: object) -> str:
        """The name under which all may look at a run of Train. Raises UserError where it is not under way."""
        if not isinstance(run, str) or not self.services.trainings.background.is_under_way(run):
            raise UserError("This run is not under way.")
        return self.shared.share(run)

    def shown(self, name: str, room_pass: str) -> str:
        """The id of a run by its public name, for a member of a room in which it was trained; else "".

        A pass is the room's code, a dot and the member's key. It is checked whenever a run is requested, in any thread.
        """
        code, _, member = room_pass.partition(".")
        room = self.rooms.rooms.get(code)
        if room is None or room.ends <= self.rooms.clock() or member not in room.members:
            return ""
        runs = [self.shared.run_of(shared) for shared in room.runs]
        return next((run for run in runs if run and public_name(run) == name), "")

    def curve(self, name: str, steps: int, looks: int) -> str:
        """The new points of the run's curve for a page that has so many: JSON, or ""."""
        return self.shared.news(name, max(0, steps), max(0, looks))

    async def ask(self, name: str, sentence: object) -> list[tuple[str, float]]:
        """The likeliest classes of a sentence, with their probabilities. Raises UserError."""
        text = checked_text(sentence, "A sentence", LONGEST_SENTENCE)
        if self.waiting >= MOST_WAITING:
            raise TooOftenError("Too many requests are waiting for the model; try again in a moment.")
        self.waiting += 1
        try:
            async with self.turns:
                return await asyncio.to_thread(self._ask, self.shared.run_of(name), text)
        finally:
            self.waiting -= 1

    def _ask(self, run: str, text: str) -> list[tuple[str, float]]:
        trainings = self.services.trainings
        if not run or trainings.background.is_under_way(run):
            raise UserError(NOT_YET)
        if (trained := self.services.classifier(run)) is None:
            raise UserError("This model does not classify sentences, or is no longer kept.")
        (shares,) = trained.answers([Example(text, 0)])
        classes = sorted(zip(trained.task.labels, shares, strict=True), key=lambda pair: -pair[1])
        return classes[:MOST_CLASSES]

"""A reader's run as a model: by a public name in links, by a key that only its reader's browser has on the server, and
in the reader's room by a member's pass.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.figures.program import model_lines
from demos.page.bar import _menu, use_model
from demos.page.room.room import MOST_RUNS, Room
from demos.page.room.rooms import Rooms
from demos.page.room.runs import RoomRuns
from demos.page.services import Sentence, Services
from demos.training.learning.model import Model, keep, load_encoder
from demos.training.results.history import Record
from demos.training.service.own_models import NOT_YOUR_ROOMS, NOT_YOURS, ROOMS, key_of, name_of
from demos.training.service.stored_runs import OWN, StoredRuns, public_name
from demos.training.service.training_service import TrainingService
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.task import Task
from demos.widgets.comparison.sides import TUNED, ComparisonForm, pair_of
from tests.page.tiny_store import TinyStore
from tests.run_coroutine import run as run_coroutine

ANN, BOB = "a" * 24, "b" * 24
TEXT = "The river bank is green."
EMOTION = Classification(("joy", "sadness"))
Train = Callable[..., str]


class Store(TinyStore):
    """The tiny model, and readers' runs that began as it."""

    def get(self, key: str) -> LoadedModel:
        return super().get(key) if key == "tiny" else ModelStore.get(self, key)

    def folder(self, key: str) -> Path:
        return super().folder(key) if key == "tiny" else ModelStore.folder(self, key)


@pytest.fixture(params=["in memory", "on disk"])
def services(request: pytest.FixtureRequest, tiny: LoadedModel, base: Path, tmp_path: Path) -> Services:
    """Both ways in which a server keeps its readers' runs; in memory there is room for three of them."""
    store = Store(tiny, base)
    store.memory = Budget(3.5 * tiny.nbytes)
    stored = StoredRuns(tmp_path / "runs") if request.param == "on disk" else None
    return Services(store, "tiny", trainings=TrainingService(stored, store.memory))


@pytest.fixture
def train(services: Services, base: Path, record: Record) -> Train:
    """train(reader) keeps a run whose encoder is the tiny one with each weight moved -> its public name."""

    def kept(reader: str, task: Task = EMOTION, data: str = "Emotion") -> str:
        runs, readers = services.trainings.runs, services.trainings.readers
        run, encoder, number = runs.new(), load_encoder(base, "eager"), len(readers.history(reader)) + 1
        generator = torch.Generator().manual_seed(number)
        for weight in encoder.parameters():
            weight.data += 0.05 * torch.randn(weight.shape, generator=generator)
        model = Model(encoder, task.head(encoder.config.hidden_size, generator), AutoTokenizer.from_pretrained(base))
        keep(model, task, 16, runs.folder(run))
        runs.keep(run, "tiny")
        readers.add(reader, replace(record, run=run, number=number, data=data))
        return public_name(run)

    return kept


def newest(services: Services, reader: str) -> str:
    """The id of the reader's last run."""
    return services.trainings.readers.history(reader)[-1].run


def test_a_run_of_any_task_is_a_model_with_the_weights_that_were_kept(services: Services, train: Train) -> None:
    for task in (EMOTION, Entities(("person", "place"))):
        key = key_of(train(ANN, task), f"{ANN}/{'t' * 24}")
        loaded = services.loaded(key)
        folder = services.trainings.runs.folder(newest(services, ANN))
        theirs = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
        inputs = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
        with torch.inference_mode():
            output = theirs(**inputs, output_hidden_states=True, output_attentions=True)
        run = services.run(Sentence(TEXT, "", key))
        np.testing.assert_allclose(run.hidden_states, torch.cat(output.hidden_states), atol=1e-5)
        np.testing.assert_allclose(run.attentions, torch.cat(output.attentions), atol=1e-5)
        assert not np.allclose(services.run(Sentence(TEXT, "", "tiny")).attentions, run.attentions, atol=1e-3)
        assert services.store.tokenizer(key) is loaded.tokenizer
        with pytest.raises(UserError, match="has no masked-word head"):
            services.pretrained(key)
        assert services.pretrained_key(key) == "tiny"  # what is trained further begins there
        assert "my-fine-tune" in model_lines(loaded.spec)[1]


def test_the_menu_has_the_readers_own_kept_runs_first(services: Services, train: Train) -> None:
    first, second = train(ANN), train(ANN, data="My  films")
    other = train(BOB)
    catalogue = [(spec.title, key) for key, spec in services.store.catalogue.items()]
    assert _menu(services, ANN) == [("Your run 2: My films", second), ("Your run 1: Emotion", first), *catalogue]
    assert _menu(services, f"{BOB}/{'t' * 24}") == [("Your run 1: Emotion", other), *catalogue]
    assert _menu(services, "") == _menu(services, "c" * 24) == catalogue
    services.trainings.runs.discard(newest(services, ANN))
    assert _menu(services, ANN) == [("Your run 1: Emotion", first), *catalogue]


@pytest.mark.parametrize("reader", ["", BOB, "c" * 24, f"{ANN[:-1]}/", "*", "../" + ANN])
def test_anothers_run_is_refused_in_one_sentence_wherever_it_is_asked_for(
    services: Services, train: Train, reader: str
) -> None:
    name = train(ANN)
    train(BOB)
    services.run(Sentence(TEXT, "", f"{name} {ANN}"))  # it is in the caches now
    for key in (name, f"{name} {reader}", key_of(name, reader)):
        for asked in (services.key, services.loaded, services.own_run, services.pretrained_key, services.store.folder):
            with pytest.raises(UserError) as refused:
                asked(key)
            assert str(refused.value) == NOT_YOURS
        for method in (services.store.tokenizer, services.store.tokenizer_at_hand):
            with pytest.raises(UserError, match="trained in another browser"):
                method(key)
        with pytest.raises(UserError, match="trained in another browser"):
            services.run(Sentence(TEXT, "", key))
    updates = list(use_model(services, name, "tiny", reader))
    assert [update[1] for update in updates] == ["tiny"]
    assert NOT_YOURS in updates[0][2]
    assert "Emotion" not in updates[0][2]


@pytest.mark.parametrize("name", [OWN, f"{OWN}*", f"{OWN}{'?' * 16}", f"{OWN}../../{'0' * 16}", f"{OWN}{'0' * 16}"])
def test_a_pattern_is_no_name(services: Services, train: Train, name: str) -> None:
    train(ANN)
    with pytest.raises(UserError, match="trained in another browser"):
        services.loaded(f"{name} {ANN}")


def test_what_is_drawn_for_its_reader_is_not_drawn_for_who_guesses_its_name(services: Services, train: Train) -> None:
    name = train(ANN)
    draw = services.drawings.remembered(lambda sentence: str(services.run(sentence).attentions.sum()))
    assert float(draw(Sentence(TEXT, "", f"{name} {ANN}"))) > 0
    for key in (name, f"{name} {BOB}"):
        with pytest.raises(UserError, match="trained in another browser"):
            draw(Sentence(TEXT, "", key))


def test_the_page_computes_with_the_key_and_shows_only_the_name(services: Services, train: Train) -> None:
    name = train(ANN)
    *_, (picker, in_use, status) = use_model(services, name, "tiny", f"{ANN}/{'t' * 24}")
    assert (picker["value"], in_use) == (name, f"{name} {ANN}")
    assert ("Your run 1: Emotion", name) in picker["choices"]
    assert "Fine-tuned in this browser from" in status
    assert 'href="./attention">Compare its attention' in status
    loaded = services.loaded(in_use)
    told = [status, str(picker), loaded.spec.key, services.run(Sentence(TEXT, "", in_use)).model, json.dumps(in_use)]
    assert [ANN in text for text in told] == [False, False, False, False, True]
    assert name_of(in_use) == name
    assert name_of("tiny") == "tiny"


def test_a_run_that_is_gone_gives_one_sentence_and_the_default(services: Services, train: Train) -> None:
    name = train(ANN)
    key = f"{name} {ANN}"
    services.loaded(key)
    services.trainings.runs.discard(newest(services, ANN))
    with pytest.raises(UserError, match="Your run 1: Emotion” is no longer kept here; train it again"):
        services.loaded(key)
    for wanted in (name, "nonsense"):
        *_, (picker, in_use, status) = use_model(services, wanted, key, ANN)  # also where it was the one in use
        assert (picker, in_use) == ("tiny", "tiny")
        assert "instead" in status


def test_readers_models_stay_within_the_budget(services: Services, train: Train, tiny: LoadedModel) -> None:
    names = [(reader, train(reader)) for reader in (letter * 24 for letter in "abcdef")]
    for reader, name in names:
        loaded = services.loaded(f"{name} {reader}")
        assert loaded.nbytes == tiny.nbytes
        assert sum(services.memory.usage().values()) <= services.memory.most
        del loaded
    assert services.memory.usage()["tuned models"] < 6 * tiny.nbytes
    held = [services.loaded(f"{name} {reader}") for reader, name in names[:2]]
    used = services.memory.usage()["tuned models"]
    services.loaded(f"{names[2][1]} {names[2][0]}")
    assert services.memory.usage()["tuned models"] >= used >= sum(loaded.nbytes for loaded in held)  # in use: counted


def test_compare_shows_the_bars_own_run_beside_what_it_began_as(services: Services, train: Train) -> None:
    first, second = train(ANN), train(ANN)
    form = ComparisonForm(newest(services, ANN), TUNED, "", "", "0", "0")
    for name in (first, second):
        key = f"{name} {ANN}"
        pair = pair_of(services, Sentence(TEXT, "", key), form)
        assert pair.left.title == f"before, {services.store.spec('tiny').title}"
        assert pair.right.title == f"after fine-tuning ({services.store.spec(key).title})"
        np.testing.assert_array_equal(pair.right.run.attentions, services.run(Sentence(TEXT, "", key)).attentions)
        assert pair.note == ""


@pytest.fixture
def rooms(services: Services) -> Rooms:
    return RoomRuns(services, Rooms({"tokens"})).rooms


def opened(rooms: Rooms) -> Room:
    async def room() -> Room:
        return rooms.open()

    return run_coroutine(room())


def show(services: Services, room: Room, reader: str = ANN) -> None:
    """The lecturer's last run is the room's."""
    room.show_run(services.trainings.shared.share(newest(services, reader)))


def for_member(room: Room, name: str) -> str:
    """The run as a new member's page asks for it."""
    return f"{name} {room.code}.{room.join().key}"


def test_the_members_of_a_room_open_its_lecturers_run(services: Services, train: Train, rooms: Rooms) -> None:
    name, room = train(ANN), opened(rooms)
    show(services, room)
    (picker, in_use, status) = list(use_model(services, for_member(room, name), "tiny", BOB))[-1]
    assert (picker["value"], picker["choices"][0]) == (name, (ROOMS, name))
    assert "Fine-tuned by this room’s lecturer from" in status
    assert "Emotion" not in str(picker["choices"])  # what the lecturer calls it is the lecturer's
    theirs, lecturers = (services.run(Sentence(TEXT, "", key)) for key in (in_use, f"{name} {ANN}"))
    assert theirs is lecturers  # one forward pass for the hall
    assert _menu(services, BOB, in_use)[0] == (ROOMS, name)
    assert _menu(services, ANN, key_of(for_member(room, name), ANN))[0] == ("Your run 1: Emotion", name)
    assert services.loaded(key_of(for_member(room, name), ANN)).spec.title == "Your run 1: Emotion"  # in another tab
    seen: list[str] = []
    draw = services.drawings.remembered(lambda sentence: seen.append(services.key(sentence.model)))
    for reader in (BOB, "c" * 24, ""):
        draw(Sentence(TEXT, "", key_of(for_member(room, name), reader)))
    assert len(seen) == 1  # and one drawing


def test_nobody_else_opens_it_and_no_member_longer_than_the_room(
    services: Services, train: Train, rooms: Rooms
) -> None:
    before, name, other = train(ANN), train(ANN), train(BOB)
    room, elsewhere = opened(rooms), opened(rooms)
    show(services, room)
    member = room.join()
    key = key_of(f"{name} {room.code}.{member.key}", "c" * 24)
    draw = services.drawings.remembered(lambda sentence: services.key(sentence.model))
    draw(Sentence(TEXT, "", key))
    strangers = [for_member(elsewhere, name), for_member(room, before), for_member(room, other)]
    passes = (f"{elsewhere.code}.{member.key}", f"{room.code}.{room.key}", f"{room.code}.", room.code, ".")
    strangers += [f"{name} {room_pass}" for room_pass in passes]

    def refused(key: str) -> None:
        for ask in (services.key, services.loaded, services.store.folder, lambda key: draw(Sentence(TEXT, "", key))):
            with pytest.raises(UserError) as told:
                ask(key)
            assert str(told.value) == NOT_YOUR_ROOMS

    for stranger in strangers:
        refused(key_of(stranger, "c" * 24))
    assert NOT_YOUR_ROOMS in list(use_model(services, strangers[0], "tiny", "c" * 24))[-1][2]
    assert services.key(key) == key
    room.leave(member.key)
    refused(key)
    key = key_of(for_member(room, name), "c" * 24)
    assert services.key(key) == key
    services.trainings.runs.discard(newest(services, ANN))
    with pytest.raises(UserError, match="“The room’s run” is no longer kept here"):
        services.key(key)
    rooms.close(room)
    refused(key)


def test_a_room_shows_its_latest_runs(services: Services, train: Train, rooms: Rooms) -> None:
    room = opened(rooms)
    names = []
    for _ in range(MOST_RUNS + 1):
        names.append(train(ANN))
        show(services, room)
    first, *rest = (for_member(room, name).split(" ") for name in names)
    assert services.own_models.shown(*first) == ""
    assert all(services.own_models.shown(*each) for each in rest)
    assert services.trainings.shared.run_of(room.run) == newest(services, ANN)

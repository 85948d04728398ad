"""The right answers of this lesson's questions, for ten sentences of no example, against transformers' own classes."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertLMHeadModel, BertModel

from demos.bert.causal.writing import Method, beginning, looked_up, write
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.figures.numbers import percent
from demos.lessons.family.decoder.part import Story, Writing
from demos.page.questions import Answer, questions
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.data.lists import our_library
from tests.lessons.test_question_answers import SENTENCES, near
from tests.one_line import one_line

TEXTS = [text for text, _ in SENTENCES]
OTHER = "windmill"
SHOWN = 10


@pytest.fixture(scope="module")
def tokenizer(store: ModelStore) -> Any:
    return AutoTokenizer.from_pretrained(store.folder(BUNDLED))


@pytest.fixture(scope="module")
def encoder(store: ModelStore) -> Any:
    return BertModel.from_pretrained(store.folder(BUNDLED)).eval()


@pytest.fixture(scope="module")
def decoder(services: Services) -> Any:
    """transformers' decoder with the weights of this app's."""
    ours = services.decoder()
    settings = ours.encoder.model.config.to_dict() | {"is_decoder": True, "tie_word_embeddings": False}
    theirs = BertLMHeadModel(BertConfig(**settings)).eval()
    theirs.bert.load_state_dict(ours.encoder.model.state_dict(), strict=False)
    theirs.cls.predictions.transform.load_state_dict(ours.transform.state_dict())
    theirs.cls.predictions.decoder.load_state_dict(ours.decoder.state_dict())
    return theirs


def answers(services: Services, part: str, *choices: Any) -> list[Answer]:
    compute = questions()["family", part].compute
    assert compute is not None
    return [compute(services, Sentence(text, "", BUNDLED), *choices) for text in TEXTS]


def test_the_next_word_piece(services: Services, tokenizer: Any, decoder: Any) -> None:
    for text, answer in zip(TEXTS, answers(services, "decoder"), strict=True):
        ids = torch.tensor([tokenizer(text)["input_ids"][:-1]])
        with torch.inference_mode():
            chances = decoder(input_ids=ids).logits[0, -1].double().softmax(-1)
        assert answer.facts["piece"] == tokenizer.convert_ids_to_tokens(int(chances.argmax())), text
        assert answer.facts["chance"] == near(float(chances.max()))
        assert answer.facts["entropy"] == near(float(-(chances * chances.log()).sum()))


def looked(services: Services, text: str, word: str, story: Story | None = None) -> str:
    """What is said of a word after a text, or after what is written of it."""
    on = On(services, Sentence(text, "", BUNDLED))
    said = {"look_up": word, "story": story or Story()}
    return str(Writing().draw_looked_up(on, Writing().read(on, said))["looked"])


def test_any_word_is_looked_up(services: Services, tokenizer: Any, decoder: Any) -> None:
    """After a text, each piece of a word has the probability and the rank that transformers' own decoder gives it."""
    for text in ("Thanks for all the", TEXTS[0]):
        for word in ("fish", "Fish!", "unflappable", "the sea otter"):
            ids = tokenizer(text)["input_ids"][:-1]
            steps = looked_up(services.decoder(), ids, word)
            pieces = tokenizer(word, add_special_tokens=False)["input_ids"]
            assert [step.guess.token_id for step in steps] == pieces
            with torch.inference_mode():
                logits = decoder(input_ids=torch.tensor([[*ids, *pieces]])).logits[0, len(ids) - 1 : -1].double()
            for step, row, piece in zip(steps, logits, pieces, strict=True):
                assert step.guess.probability == pytest.approx(float(row.softmax(-1)[piece]), rel=1e-3)
                assert step.rank == 1 + int((row > row[piece]).sum())
            shown = one_line(looked(services, text, word))
            product = float(np.prod([float(row.softmax(-1)[piece]) for row, piece in zip(logits, pieces, strict=True)]))
            assert f"<b>{percent(product)}</b>" in shown
            assert all(f"{step.rank:,}" in shown for step in steps)


def test_what_is_written_comes_before_a_word_that_is_looked_up(services: Services) -> None:
    text = "Thanks for all the"
    pieces = tuple(write(services.decoder(), beginning(services.decoder(), text), Method(), 2))
    after = looked(services, text, "fish", Story(text, pieces))
    whole = f"{text} {' '.join(piece.guess.token for piece in pieces)}"
    assert after == looked(services, whole, "fish")
    assert looked(services, text, " ") == ""
    with pytest.raises(UserError, match="word pieces, and at most 8"):
        looked(services, text, "fish " * 9)


def test_the_states_that_another_last_word_changes(
    services: Services, tokenizer: Any, encoder: Any, decoder: Any
) -> None:
    for text, answer in zip(TEXTS, answers(services, "last_word", OTHER), strict=True):
        other = re.sub(r"\S*\w(?=\W*$)", OTHER, text)
        before, after = (tokenizer(one)["input_ids"] for one in (text, other))
        same = next(at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new)
        changed = []
        for model, end in ((encoder, None), (decoder.bert, -1)):
            with torch.inference_mode():
                old, new = (model(input_ids=torch.tensor([ids[:end]])).last_hidden_state[0] for ids in (before, after))
            changed.append(int(((old[:same] - new[:same]).abs().max(dim=-1).values > 1e-5).sum()))
        assert answer.facts == {"before": same, "bert": changed[0], "changed": changed[1], "other": OTHER}, text
        assert changed[1] == 0


def test_another_first_word_changes_all_states_but_the_start_token_s(tokenizer: Any, decoder: Any) -> None:
    assert questions()["family", "last_word"].right == "later"
    for text in ("rain falls on the roof.", "dogs like to run in the park"):
        ids = tokenizer(text)["input_ids"][:-1]
        other = [ids[0], tokenizer.convert_tokens_to_ids("snow"), *ids[2:]]
        with torch.inference_mode():
            old, new = (decoder.bert(input_ids=torch.tensor([one])).last_hidden_state[0] for one in (ids, other))
        assert ((old - new).abs().max(dim=-1).values > 1e-3).tolist() == [False] + [True] * (len(ids) - 1)


@pytest.mark.slow
def test_both_searches(services: Services, tokenizer: Any, encoder: Any) -> None:
    def vectors(texts: list[str]) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Of each text (the mean of its states as a unit vector, the unit vectors of pieces with a letter or digit)."""
        inputs = tokenizer(texts, return_tensors="pt", padding=True)
        with torch.inference_mode():
            states = encoder(**inputs).last_hidden_state
        found = []
        for ids, mask, rows in zip(inputs["input_ids"], inputs["attention_mask"].bool(), states, strict=True):
            names = tokenizer.convert_ids_to_tokens(ids)
            words = [at for at, name in enumerate(names) if not re.fullmatch(r"\[\w+\]|[\W_]+", name)]
            units = torch.nn.functional.normalize(rows[words], dim=1)
            found.append((torch.nn.functional.normalize(rows[mask].mean(0), dim=0), units))
        return found

    sentences = our_library().sentences
    library = vectors(sentences)
    found = answers(services, "late_interaction", " ")
    for text, (mean, tokens), answer in zip(TEXTS, vectors(TEXTS), found, strict=True):
        scores = (
            [float(mean @ other) for other, _ in library],
            [float((tokens @ others.T).max(dim=1).values.sum()) for _, others in library],
        )
        by_mean, by_token = (np.argsort(-np.array(one), kind="stable")[:SHOWN] for one in scores)
        shared = len({*by_mean} & {*by_token})
        assert answer.facts == {
            "shared": shared,
            "by_mean": sentences[by_mean[0]],
            "by_token": sentences[by_token[0]],
            "sentences": f"{len(library):,}",
            "vectors": f"{sum(len(units) for _, units in library):,}",
        }, text

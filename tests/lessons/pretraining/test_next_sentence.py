"""Next sentence: what its handlers fill, with a tiny BERT's own heads and with ours; its programs, run."""

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForPreTraining

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.pretraining.heads import Pretrained, PretrainedModels
from demos.errors import UserError
from demos.lessons.pretraining.next_sentence.answers import FIRST, MOST, SECOND, WAYS, Reader, made
from demos.lessons.pretraining.next_sentence.figure import next_code
from demos.lessons.pretraining.next_sentence.part import NextSentence, bar_mark, next_endpoint
from demos.page.services import Sentence, Services
from tests.one_line import one_line
from tests.programs import printed
from tests.shown_values import with_values

shown = with_values(NextSentence().shown)
NAMES = ("next_a", "next_b", "next_put", "next_draw", "next_bar")
BAR = Sentence("The unflappable banker.", "", "minilm")


class Heads(PretrainedModels):
    """Always the same one."""

    def __init__(self, found: Pretrained) -> None:
        super().__init__()
        self.found = found

    def get(self, *_: Any) -> Pretrained:
        return self.found


@pytest.fixture(scope="module")
def whole(tiny: LoadedModel) -> BertForPreTraining:
    torch.manual_seed(8)
    config = BertConfig.from_dict(tiny.model.config.to_dict() | {"initializer_range": 0.3})  # answers that differ
    model: BertForPreTraining = BertForPreTraining(config).eval().requires_grad_(False)
    model.set_attn_implementation("eager")
    return model


@pytest.fixture(scope="module")
def services(store: ModelStore, tiny: LoadedModel, whole: BertForPreTraining) -> Services:
    """The page's, with the tiny BERT's heads in the place of ours."""
    predictions = whole.cls.predictions
    spec = replace(tiny.spec, hub_id="them/tiny", revision="main", nsp=True)
    found = Pretrained(
        LoadedModel(spec, tiny.tokenizer, whole.bert),
        predictions.transform,
        predictions.decoder,
        whole.bert.pooler,
        whole.cls.seq_relationship,
        {"trained_by": "them"},
    )
    return Services(store, "minilm", heads=Heads(found))


@pytest.fixture(scope="module")
def reader(services: Services) -> Reader:
    return services.shared(Reader)


def drawn(reader: Reader, sentence: Sentence, *chosen: Any) -> dict[str, Any]:
    return dict(shown(reader.services, sentence, **dict(zip(NAMES, chosen, strict=True))))


def numbers_of(program: str) -> np.ndarray:
    return np.array([ast.literal_eval(line) for line in printed(program)])


def test_four_cases_equal_transformers_own_and_the_chosen_one_is_drawn(
    reader: Reader, whole: BertForPreTraining, tiny: LoadedModel
) -> None:
    first, second = "It <b>rains</b>.", "They stayed ${in}."
    cases = reader.four("minilm", first, second, 3)
    random = cases[1].encoding.text_pair
    assert random in [text for one in reader.documents for text in one]
    pairs = [(first, second), (first, random), (second, first), (first, first)]
    assert [(case.encoding.text, case.encoding.text_pair) for case in cases] == pairs
    assert [case.label for case in cases] == [None, 1, None, 1]
    for case, pair in zip(cases, pairs, strict=True):
        with torch.no_grad():
            theirs = whole(**tiny.tokenizer(*pair, return_tensors="pt")).seq_relationship_logits[0]
        np.testing.assert_allclose(case.logits, theirs, atol=2e-5)
        np.testing.assert_allclose(case.losses, -theirs.log_softmax(-1), atol=2e-5)
    swapped = drawn(reader, BAR, first, second, "swapped", 3, "")
    logit = f"{cases[2].logits[0]:+.2f}".replace("-", "−")
    assert f"{logit}</td><td>{cases[2].losses[0]:.3f}" in one_line(swapped["answer"])
    chips = re.findall(r'<li class="seg[^"]*"><b><bdi>(.*?)</bdi>', swapped["sequence"])
    assert chips[:4] == ["[CLS]", "they", "stayed", "$"]
    assert len(re.findall('class="seg', swapped["sequence"])) == len(cases[2].encoding)
    assert 'class=shown><th scope="row">swapped' in swapped["cases"]
    assert f"{cases[3].losses[1]:.5f}" in swapped["numbers"]
    assert all("<b>rains" not in html and "<script" not in html for name, html in swapped.items() if name != "program")
    assert reader.four("minilm", first, second, 4)[1].encoding.text_pair != random


def test_only_a_pair_of_a_known_text_is_called_the_next_sentence(store: ModelStore) -> None:
    reader = Services(store, "minilm").shared(Reader)
    asked = ("How are you?", "The Eiffel Tower is in Paris")
    typed = drawn(reader, BAR, *asked, "true", 0, "")
    cases = reader.four("minilm", *asked, 0)
    assert cases[0].is_next < 0.5
    assert "This B is classified as NotNext" in one_line(typed["cases"])
    assert "This pair was not taken from a text" in typed["cases"]
    assert "true next sentence" not in typed["cases"]
    rows = re.findall(r'<th scope="row">(.*?)</th>.*?<td>([^<]*)</td><td>([^<]*)</td></tr>', typed["cases"], re.S)
    losses = [f"{case.losses[1]:.3f}" for case in cases]
    assert rows == [
        (WAYS["true"], "–", "–"),
        (WAYS["random"], "NotNext", losses[1]),
        (WAYS["swapped"], "–", "–"),
        (WAYS["same"], "NotNext", losses[3]),
    ]
    document = reader.documents[2]
    for first, second in ((FIRST, f" {SECOND} "), (document[0], document[1])):
        known = drawn(reader, BAR, first, second, "true", 0, "")["cases"]
        assert 'class=shown><th scope="row">the next sentence' in known
        assert "not taken from a text" not in known
    assert [reader.label_of(*pair) for pair in ((document[1], document[0]), (document[0], document[2]))] == [1, 1]
    assert reader.label_of(document[0], "Nobody minded.") is None


def test_each_radio_button_shows_its_case(reader: Reader) -> None:
    cases = reader.four("minilm", FIRST, SECOND, 0)
    for at, put in enumerate(WAYS):
        assert f"<td>{cases[at].losses[1]:.3f}</td>" in drawn(reader, BAR, FIRST, SECOND, put, 0, "")["answer"]


def test_the_bar_s_pair_goes_into_the_boxes_once(reader: Reader) -> None:
    pair = Sentence("It rained.", "We stayed in.", "minilm")
    taken = drawn(reader, pair, FIRST, SECOND, "true", 0, "")
    values = [taken[name]["value"] for name in ("next_a", "next_b", "next_bar")]
    assert values == ["It rained.", "We stayed in.", bar_mark(pair)]
    assert "We stayed in." in taken["cases"]
    edited = drawn(reader, pair, "It rained.", "Nobody minded.", "true", 0, bar_mark(pair))
    assert "Nobody minded." in edited["cases"]
    assert not {*NAMES} & set(edited)
    assert "gallon" in drawn(reader, BAR, FIRST, SECOND, "true", 0, "")["cases"]  # one sentence in the bar
    other = drawn(reader, replace(pair, text_pair="The sun came out."), FIRST, SECOND, "true", 0, bar_mark(pair))
    assert other["next_b"]["value"] == "The sun came out."
    assert bar_mark(replace(pair, text="\ud800"))


def test_what_people_type(reader: Reader, services: Services) -> None:
    for first, second in (("", "B."), ("A.", "  "), (None, None)):
        with pytest.raises(UserError, match="Write both sentences"):
            drawn(reader, BAR, first, second, "true", 0, "")
    with pytest.raises(UserError, match=f"B has 4,900 tokens; the limit is {MOST}"):
        drawn(reader, BAR, FIRST, "sea " * 4_900, "true", 0, "")
    whole = drawn(reader, BAR, "fog " * MOST, "🙂", "same", 0, "")
    assert "more tokens" in whole["sequence"]
    assert drawn(reader, BAR, "Rain.", "Rain.", "nonsense", 1e9, "")["answer"]
    headless = Services(services.store, "minilm", heads=Heads(replace(services.pretrained(""), relation=None)))
    with pytest.raises(UserError, match="not pre-trained on next sentences"):
        drawn(headless.shared(Reader), BAR, FIRST, SECOND, "true", 0, "")
    assert "IsNext" in made(headless.shared(Reader), "minilm", 0)  # needs no head


def test_instances_are_the_documents_and_corrupted(reader: Reader) -> None:
    found = made(reader, "minilm", 1)
    assert found.count('class="next-instance"') == 2
    assert re.findall("Label = <b>(.*?)</b>", found) == ["IsNext", "NotNext"]
    assert found.count("<figure>") == 3
    assert "chosen" in found
    count = int(re.search(r"1,000 pairs drawn like this, (\d+) are", found)[1])  # type: ignore[index]
    assert 440 < count < 560
    assert made(reader, "minilm", 2) != found


def test_trials_are_told_and_remembered(reader: Reader, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    *steps, last = list(reader.trials("minilm", 1))
    assert steps[0] == {"status": '<p role="status">0 of 240 pairs done …</p>', "results": ""}
    assert last["status"] == ""
    cells = [int(one) for one in re.findall(r'class="(?:hit|miss)">(\d+)<', last["results"])]
    assert len(cells) == 8
    assert [sum(cells[at : at + 2]) for at in range(0, 8, 2)] == [60] * 4
    found = services.pretrained("")
    answered = reader.cached_trials.get((found.encoder.spec.key, 1))
    assert answered is not None
    trials, answers = answered
    said = 0
    for trial in trials[:80:4]:  # each alone, without padding
        encoding = encode(found.tokenizer, trial.first, trial.second)
        with torch.no_grad():
            hidden = found.encoder.model(
                torch.tensor([encoding.input_ids]), token_type_ids=torch.tensor([encoding.token_type_ids])
            ).last_hidden_state
            said += int(found.next_logits(hidden)[0].argmax() == 0)
    assert said == answers.is_next[:80:4].sum()
    monkeypatch.setattr(f"{Reader.__module__}.next_steps", lambda *_: pytest.fail("asked again"))
    assert list(reader.trials("minilm", 1)) == [last]


def test_the_endpoint_gives_the_page_s_numbers(services: Services, reader: Reader) -> None:
    ask = next_endpoint(services)
    answer = ask(FIRST, SECOND)
    case = reader.four("minilm", FIRST, SECOND, 0)[0]
    assert answer["tokens"] == list(case.encoding.tokens)
    assert answer["segments"] == list(case.encoding.token_type_ids)
    for name in ("logits", "probabilities", "losses"):
        assert list(answer[name]) == ["IsNext", "NotNext"]
        np.testing.assert_allclose(list(answer[name].values()), getattr(case, name), atol=2e-5)
    for arguments, said in (
        (("", "b"), "both"),
        (("a", "sea " * 500), "the limit is 120"),
        (("a", "b", "x"), "no model"),
        ((1, "b"), "A must be text"),
    ):
        with pytest.raises(UserError, match=said):
            ask(*arguments)


def test_a_hub_model_s_program_prints_these_numbers(
    reader: Reader, whole: BertForPreTraining, tiny: LoadedModel, tmp_path: Path
) -> None:
    whole.save_pretrained(tmp_path)
    tiny.tokenizer.save_pretrained(tmp_path)
    cases = reader.four("minilm", 'Say "hi"\n{x}.', "It's raining.", 0)
    program = drawn(reader, BAR, 'Say "hi"\n{x}.', "It's raining.", "true", 0, "")["program"]
    found = numbers_of(program.replace("'them/tiny'", repr(str(tmp_path))))
    expected = [[*case.logits, *case.probabilities, *case.losses] for case in cases]
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_our_heads_program_prints_the_page_s_numbers(store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Services(store, "minilm")
    monkeypatch.setattr("demos.bert.model.models.ModelStore", lambda: store)  # read once is enough
    found = ours.pretrained("")
    monkeypatch.setattr("demos.bert.pretraining.heads.our_heads", lambda _: found)
    cases = Reader(ours).four("minilm", FIRST, SECOND, 0)
    pairs = [(case.encoding.text, case.encoding.text_pair) for case in cases]
    numbers = numbers_of(next_code(found.encoder.spec, pairs))
    np.testing.assert_allclose(numbers[:, :2], [case.logits for case in cases], atol=2e-4)
    assert numbers[0, 2] > 0.5 > numbers[1, 2]  # the example shows what it is there for

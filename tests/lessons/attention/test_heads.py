"""The Attention lesson's handler and endpoint on the bundled model, and its code, which must run."""

import ast
import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.attention.contributions import contributions
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.errors import UserError
from demos.lessons.attention import offer_endpoint
from demos.lessons.attention.heads import part
from demos.lessons.attention.heads.layout import alone_in_a_file, numbers
from demos.lessons.attention.heads.part import Heads, of_head
from demos.lessons.attention.heads.program import contribution_code
from demos.page.bar import DEFAULT_TEXT
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.widgets.head_grid.head_grid import OPENED, head_to_open, previous_head
from tests.made_up import distilbert
from tests.page.tiny_store import TinyStore
from tests.plotly_figure import plotly
from tests.programs import printed
from tests.shown_values import with_values
from tests.widgets.unpacking import unpack_weights

VIEW = Heads()
NAMES = ("view", "layer", "head", "cached", "key", "pattern", "habit")
TEXT, PAIR = "The kettle had already boiled dry.", "Nobody noticed the smell."


def chosen(services: Services, sentence: Sentence, *named: Any, **more: str) -> tuple[On, Any]:
    on = On(services, sentence)
    return on, VIEW.read(on, dict(zip(NAMES, named, strict=False)) | more)


def drawn(services: Services, sentence: Sentence, *named: Any, **more: str) -> dict[str, Any]:
    """The outputs but the averages, by name."""
    return dict(with_values(VIEW.draw)(*chosen(services, sentence, *named, **more)))


@pytest.fixture(scope="module")
def attention(services: Services) -> Callable[..., dict[str, Any]]:
    """The function behind the endpoint, as the page is handed it."""

    class Catcher:
        def __init__(self) -> None:
            self.services = services

        def endpoint(self, function: Callable[..., dict[str, Any]], **_options: Any) -> None:
            self.function = function

    catcher = Catcher()
    offer_endpoint(catcher)  # type: ignore[arg-type]
    return catcher.function


@pytest.fixture(scope="module")
def reference(bundled: LoadedModel) -> tuple[torch.Tensor, ...]:
    inputs = bundled.tokenizer(TEXT, PAIR, return_tensors="pt")
    with torch.no_grad():
        return bundled.model(**inputs, output_attentions=True).attentions


def test_an_answer_of_the_api_is_bounded(attention: Callable[..., dict[str, Any]]) -> None:
    long = "word " * 600
    with pytest.raises(UserError, match=r"3,145,728 weights; .* 300,000. Ask for one head, 0 to 11"):
        attention(long)
    one = attention(long, head=11)
    assert np.shape(one["attention"]) == (1, 512, 512)
    assert attention(TEXT, head=3)["attention"] == attention(TEXT)["attention"][3:4]
    for wrong in (12, -2, 0.5, float("nan"), True, None):
        with pytest.raises(UserError, match="There is no head"):
            attention(TEXT, head=wrong)


def test_all_outputs_tell_of_the_same_head(services: Services, reference: tuple[torch.Tensor, ...]) -> None:
    outputs = drawn(services, Sentence(TEXT, PAIR, "minilm"), "head", 4, 7, "")
    theirs = reference[4][0].numpy()
    n = theirs.shape[-1]
    message = json.loads(outputs["frame"])
    assert message["sentence_b_start"] == 9
    assert np.abs(unpack_weights(message["weights"]["4"], (12, n, n)) - theirs).max() <= 0.003
    plot = of_head(services, Sentence(TEXT, PAIR, "minilm"), "head", 4, 7, "weight", "")["plot"]
    np.testing.assert_allclose(np.array(plotly(plot).data[0].z), theirs[7], atol=1e-4)
    assert "Layer 5, head 8" in outputs["said"]
    assert f"<td>{theirs[7, 0, 1]:.3f}</td>" in outputs["table"]
    assert (outputs["layer"], outputs["head"]) == ({"value": 4}, {"value": 7})


def test_a_typed_separator_counts_as_one_in_every_sentence(
    services: Services, attention: Callable[..., dict[str, Any]]
) -> None:
    """Layer 1, head 3 gives most weight to what the text itself names [SEP] beside the added ones."""
    for text, pair, special, share in (
        ("A [SEP] B", "", [0, 2, 4], "60%"),
        ("The cat sat.", "[SEP] It slept.", [0, 5, 6, 10], "36%"),
    ):
        said = drawn(services, Sentence(text, pair, "minilm"), "head", 0, 2, "")["said"]
        weights = np.array(attention(text, pair, layer=0, head=2)["attention"])[0]
        assert f"{weights[:, special].sum(axis=1).mean():.0%}" == share
        assert f"{share} of all attention goes to [CLS] and [SEP]" in said


def test_the_caption_of_a_cut_input_says_what_is_drawn_and_leaves_the_cut_to_the_line_above(services: Services) -> None:
    caption = drawn(services, Sentence("word " * 667, "", "minilm"), "head", 0, 2, "")["caption"]
    assert "Only the first 128 of 512 tokens are drawn" in caption
    assert "removed" not in caption


def test_a_layer_and_head_beyond_the_model_become_its_last(services: Services) -> None:
    outputs = drawn(services, Sentence(TEXT, "", "minilm"), "neuron", 23, 15, "")
    message = json.loads(outputs["frame"])
    assert (message["layer"], message["head"]) == (5, 11)
    assert (outputs["layer"]["value"], outputs["head"]["value"]) == (5, 11)
    assert list(message["vectors"]) == ["5"]


def test_another_head_of_what_the_frame_holds_sends_nothing_twice(services: Services) -> None:
    sentence = Sentence(TEXT, "", "minilm")
    first = drawn(services, sentence, "model", 0, 0, "")
    outputs = drawn(services, sentence, "model", 2, 5, first["cached"])
    assert json.loads(outputs["frame"])["weights"] == {}
    assert len(outputs["frame"]) < 2_000


def test_the_grid_comes_once_a_sentence(services: Services) -> None:
    first = drawn(services, Sentence(TEXT, "", "minilm"), "head", 0, 2, "")
    grid = json.loads(first["grid"])
    assert grid["key"] == first["key"]
    assert "<" not in first["grid"]
    moved = drawn(services, Sentence(TEXT, "", "minilm"), "head", 3, 5, first["cached"], first["key"])
    assert "grid" not in moved
    other = drawn(services, Sentence(TEXT, PAIR, "minilm"), "head", 3, 5, "", first["key"])
    assert json.loads(other["grid"])["key"] == other["key"] != first["key"]


def test_the_heads_that_a_choice_of_lines_names_are_shown(services: Services) -> None:
    sentence = Sentence(TEXT, "", "minilm")

    def heads(lines: str) -> tuple[list[int] | None, str]:
        outputs = drawn(services, sentence, "head", 2, 5, "", lines=lines)
        return json.loads(outputs["frame"])["heads"], outputs["lines"]["value"]

    assert heads("") == ([5], "")
    assert heads("all") == (None, "all")
    assert heads("7, 5") == ([5, 7], "5, 7")
    assert heads("7, 8") == ([5], "")  # the chosen head was moved: it is shown
    assert heads(", ".join(map(str, range(12)))) == (None, "all")
    for odd in ("<b>", "5, 99", "-1", "5," * 200, "9" * 199, ",", "٥"):
        assert heads(odd) == ([5], "")


def test_the_pattern_table_is_of_this_sentence_or_the_habit(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = Sentence(TEXT, "", "minilm")
    assert "layer 6, head 12" in drawn(services, sentence, "head", 0, 2, "")["patterns"]
    here = drawn(services, sentence, "head", 0, 2, "", "", "previous", "sentence")
    assert "Pattern 'previous token', this sentence" in html.unescape(here["patterns"])
    assert "patterns" not in drawn(services, sentence, "head", 0, 2, "", "", "previous", "habit")
    monkeypatch.setattr(part, "habit_sentences", lambda: [(TEXT, ""), (PAIR, "")])
    assert list(VIEW.draw_habit(*chosen(services, sentence))) == [{"reading": ""}]
    *waiting, last = VIEW.draw_habit(*chosen(services, sentence, pattern="previous", habit="habit"))
    assert all("of 2 sentences" in values["reading"] for values in waiting)
    assert last["reading"] == ""
    first, second = (
        json.loads(drawn(services, Sentence(text, "", "minilm"), "head", 0, 2, "")["grid"])["scores"]["next"]
        for text in (TEXT, PAIR)
    )
    np.testing.assert_allclose(json.loads(last["averages"])["scores"]["next"], np.add(first, second) / 2, atol=2e-4)
    assert "mean over 2 sentences" in last["average_patterns"]


def test_what_is_taken_home(services: Services, reference: tuple[torch.Tensor, ...]) -> None:
    sentence = Sentence(TEXT, PAIR, "minilm")
    name, text = numbers(*chosen(services, sentence, "head", 4, 7))
    assert name == "bert-attention-layer5-head8.json"
    np.testing.assert_allclose(json.loads(text)["weights"], reference[4][0, 7].numpy(), atol=1e-5)
    name, text = alone_in_a_file(*chosen(services, sentence, "head", 4, 99))
    assert name == "bert-attention-head-view.html"
    told = drawn(services, sentence, "head", 4, 7, "")["whole"]
    megabytes = float(told.removeprefix("One HTML file (").removesuffix(" MB)"))
    assert megabytes == pytest.approx(len(text.encode()) / 1e6, abs=0.06)


def test_the_frame_gets_no_markup(services: Services) -> None:
    value = drawn(services, Sentence("</script><img src=x onerror=alert(1)>", "", "minilm"), "head", 0, 0, "")["frame"]
    assert "<" not in value
    assert "<" in json.loads(value)["tokens"]


def test_an_empty_sentence_still_draws(services: Services) -> None:
    outputs = drawn(services, Sentence("", "", "minilm"), "neuron", 0, 0, "")
    assert json.loads(outputs["frame"])["tokens"] == ["[CLS]", "[SEP]"]


@pytest.mark.parametrize("pair", ["", PAIR])
def test_the_code_prints_this_heads_weights(services: Services, pair: str) -> None:
    sentence = Sentence('Say "hi"\\n\n{x} now.', pair, "minilm")
    program = drawn(services, sentence, "head", 3, 2, "")["program"]
    lines = printed(program)
    run = services.run(sentence)
    assert [line.split(" ", 1)[0] for line in lines] == list(run.encoding.tokens)
    rows = np.array([ast.literal_eval(line.split(" ", 1)[1]) for line in lines])
    np.testing.assert_allclose(rows, run.attentions[3, 2], atol=6e-4)


def test_the_endpoint_says_what_fell_off(attention: Callable[..., dict[str, Any]]) -> None:
    answer = attention("word " * 600, head=0)
    assert len(answer["tokens"]) == 512
    assert answer["notice"] == "The input has 602 tokens; the limit is 512, so 90 were removed, from its end."


def test_the_head_at_first_is_the_model_s_own_until_a_reader_moves_it(
    services: Services, tiny: LoadedModel, tmp_path: Path
) -> None:
    assert previous_head(services, "minilm") == OPENED
    other = Services(TinyStore.written(tiny, tmp_path / "tiny"), "tiny")
    run = other.run(Sentence(DEFAULT_TEXT, "", "tiny"))
    back = {
        (layer, head): np.diagonal(run.attentions[layer, head], -1).mean()
        for layer in range(run.num_layers)
        for head in range(run.num_heads)
    }
    own = max(back, key=back.__getitem__)
    assert previous_head(other, "tiny") == own
    sentence = Sentence(TEXT, "", "tiny")
    outputs = drawn(other, sentence, "head", *OPENED, "")
    assert (outputs["layer"]["value"], outputs["head"]["value"]) == own
    assert f"<b>Layer {own[0] + 1}, head {own[1] + 1}.</b>" in outputs["said"]
    kept = next(place for place in back if place not in (own, OPENED))
    by_hand = drawn(other, sentence, "head", *kept, "", outputs["key"])
    assert f"<b>Layer {kept[0] + 1}, head {kept[1] + 1}.</b>" in by_hand["said"]
    assert head_to_open(services, "minilm", *own, outputs["key"]) == OPENED  # back in the first model
    assert head_to_open(services, "minilm", *kept, outputs["key"]) == kept
    assert head_to_open(services, "minilm", *own, "gone.0") == own  # a model that nobody knows any more


@pytest.fixture(scope="module")
def layer_norms(bundled: LoadedModel) -> np.ndarray:
    """|a_ij f(x_j)| of the fourth layer, <float32>[H, n, n], with torch and the model's own modules alone."""
    inputs = bundled.tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        output = bundled.model(**inputs, output_attentions=True, output_hidden_states=True)
        block, norms = bundled.model.encoder.layer[3].attention, []
        for head in range(12):
            rows = slice(32 * head, 32 * (head + 1))
            value = block.self.value(output.hidden_states[3][0])[:, rows]
            lengths = (value @ block.output.dense.weight[:, rows].T).norm(dim=-1)
            norms.append(output.attentions[3][0, head] * lengths)
    return torch.stack(norms).numpy()


def test_what_is_said_of_special_tokens_is_of_contributions_too(services: Services, layer_norms: np.ndarray) -> None:
    sentence = Sentence(TEXT, "", "minilm")
    said, by_norm = (
        " ".join(html.unescape(drawn(services, sentence, "head", 3, 5, "", measure=measure)["said"]).split())
        for measure in ("weight", "contribution")
    )
    shares = layer_norms[5] / layer_norms[5].sum(axis=-1, keepdims=True)
    special = shares[:, [0, -1]].sum(axis=-1).mean()
    weights = services.run(sentence).attentions
    assert (
        f"Measured by contribution (the norm of the transformed value vector times its weight), the share of [CLS] and "
        f"[SEP] is {special:.0%}." in said
    )
    assert f"its norm is {layer_norms[5].max():.2f}." in by_norm
    assert (
        f"The share of [CLS] and [SEP] in this sum is {special:.0%}; their share of the attention weight is "
        f"{weights[3, 5][:, [0, -1]].sum() / len(shares):.0%}." in by_norm
    )
    everywhere = f"[CLS] and [SEP] receive {weights[..., [0, -1]].sum(-1).mean():.0%} of the weight, but make up only"
    assert everywhere in said
    assert everywhere in by_norm
    assert said.split("All heads of all layers.")[1] == by_norm.split("All heads of all layers.")[1]


def test_by_contribution_all_outputs_change_together(services: Services, layer_norms: np.ndarray) -> None:
    sentence = Sentence(TEXT, "", "minilm")
    before = drawn(services, sentence, "head", 3, 5, "")
    outputs = drawn(services, sentence, "head", 3, 5, before["cached"], before["key"], measure="contribution")
    n = layer_norms.shape[-1]
    trace = plotly(of_head(services, sentence, "head", 3, 5, "contribution", "")["plot"]).data[0]
    np.testing.assert_allclose(np.array(trace.z), layer_norms[5], atol=1e-4)
    assert "norm %{z:.4f}" in trace.hovertemplate
    assert trace.zmax >= layer_norms[5].max() > trace.zmax - 0.01
    message = json.loads(outputs["frame"])
    assert message["key"] != json.loads(before["frame"])["key"]
    shares = layer_norms / layer_norms.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(unpack_weights(message["weights"]["3"], (12, n, n)), shares, atol=0.0025)
    grid = json.loads(outputs["grid"])
    assert grid["key"] == outputs["key"] != before["key"]
    assert grid["measure"] == "contribution"
    strongest, query, key = grid["strongest"][3 * 12 + 5]
    assert strongest == pytest.approx(layer_norms[5].max(), abs=1e-4)
    assert layer_norms[5, query, key] == pytest.approx(strongest, abs=1e-4)
    back = np.diagonal(shares[5], -1).mean()
    assert grid["scores"]["previous"][3 * 12 + 5] == pytest.approx(back, abs=1e-4)
    assert f"<td>{layer_norms[5, 0, 1]:.3f}</td>" in outputs["table"]
    assert "Norms of the contributions in layer 4, head 6" in outputs["table"]
    assert "measured as shares of the summed norms" in html.unescape(outputs["patterns"])
    caption = html.unescape(outputs["caption"])
    assert "the norms themselves do not sum to 1" in caption
    assert "Lines for shares below" in caption
    neuron = drawn(services, sentence, "neuron", 3, 5, "", measure="contribution")
    weights = unpack_weights(json.loads(neuron["frame"])["weights"]["3"], (12, n, n))
    np.testing.assert_allclose(weights, services.run(sentence).attentions[3], atol=0.0025)
    assert "The neuron view always shows weights" in neuron["caption"]
    by_contribution = chosen(services, sentence, "head", 3, 5, measure="contribution")
    name, text = numbers(*by_contribution)
    assert name == "bert-contribution-layer4-head6.json"
    np.testing.assert_allclose(json.loads(text)["norms"], layer_norms[5], atol=2e-5)
    assert "Kobayashi" in json.loads(text)["sources"][-1]
    _, file = alone_in_a_file(*by_contribution)
    assert '"measure": "share of the contributions in its row"' in file
    assert outputs["whole"].startswith("One HTML file (")


def test_the_code_prints_this_heads_contributions(services: Services, layer_norms: np.ndarray) -> None:
    outputs = drawn(services, Sentence(TEXT, "", "minilm"), "head", 3, 5, "", measure="contribution")
    *lines, last = printed(outputs["program"])
    rows = np.array([ast.literal_eval(line.split(" ", 1)[1]) for line in lines])
    np.testing.assert_allclose(rows, layer_norms[5], atol=6e-4)
    assert last.startswith("largest difference")
    assert float(last.split()[-1]) < 1e-5


def test_the_code_runs_on_distilbert(bundled: LoadedModel, tmp_path: Path) -> None:
    loaded = distilbert(bundled.tokenizer, tmp_path)
    (run,) = run_model(loaded, [encode(loaded.tokenizer, TEXT)])
    *lines, last = printed(contribution_code(loaded.spec, run.encoding, 1, 2))
    rows = np.array([ast.literal_eval(line.split(" ", 1)[1]) for line in lines])
    np.testing.assert_allclose(rows, contributions(loaded, run, 1).norms[2], atol=6e-4)
    assert float(last.split()[-1]) < 1e-6

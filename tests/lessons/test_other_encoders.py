"""Other encoders than BERT in the lessons: drawn where they fit, refused in one sentence elsewhere."""

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest

from demos.bert.attention.ablation import run_without
from demos.bert.attention.contributions import contributions
from demos.bert.attention.grammar import measure_grammar
from demos.bert.attention.rollout import Recipe, aggregate
from demos.bert.embeddings.late_interaction import max_sims, token_vectors
from demos.bert.embeddings.similarity import cosine
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.run import Run
from demos.errors import UserError
from demos.lessons import discover
from demos.lessons.attention.ablation.text import ablation_code
from demos.lessons.attention.grammar.figure import grammar_code
from demos.lessons.attention.grammar.part import SENTENCES
from demos.lessons.attention.heads.program import contribution_code
from demos.lessons.attention.rollout.text import rollout_code
from demos.lessons.family.late_interaction.program import max_sim_code
from demos.page.lesson import Lesson, Part
from demos.page.parts import build_lesson
from demos.page.services import Sentence, Services
from demos.training.data.lists import our_library
from tests.bert.model.other_encoders import KINDS, opened
from tests.lessons.embeddings.answers import Recorder
from tests.page.empty_page import empty_page
from tests.programs import printed

TEXT, PAIR = "The agreement, signed in August.", "un café été!"
Found = tuple[ModelStore, Mapping[str, LoadedModel]]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    with pytest.MonkeyPatch.context() as patch, opened(tmp_path_factory.mktemp("others"), patch) as found:
        yield found


@pytest.fixture(params=KINDS)
def loaded(request: pytest.FixtureRequest, models: Found) -> LoadedModel:
    """One of them, as if the Hub had its files where this machine has them: so programs can fetch it."""
    found = models[1][request.param]
    return replace(found, spec=replace(found.spec, hub_id=str(models[0].folder(found.spec.key))))


def run_of(models: Found, loaded: LoadedModel, *texts: str) -> Run:
    return Services(models[0], "minilm").runs.get(loaded, *texts)


def rows_of(lines: list[str]) -> np.ndarray:
    """The lists that a program prints, one in each line behind a name."""
    return np.array([ast.literal_eval(line[line.index(" [") + 1 : line.rindex("]") + 1]) for line in lines])


@pytest.mark.slow
def test_the_programs_print_what_the_page_draws(loaded: LoadedModel, models: Found) -> None:
    run, spec = run_of(models, loaded, TEXT, PAIR), loaded.spec
    *lines, last = printed(contribution_code(spec, run.encoding, 1, 2))
    np.testing.assert_allclose(rows_of(lines), contributions(loaded, run, 1).norms[2], atol=6e-4)
    assert float(last.split()[-1]) < 1e-5
    for recipe in (
        Recipe("rollout", 2, share="measured", words=True),
        Recipe("rollout", 2, measure="contribution"),
        Recipe("heads-max", 1, quarter="A-B", specials="hide"),
    ):
        lines = [line for line in printed(rollout_code(spec, run.encoding, recipe)) if " sum " in line]
        np.testing.assert_allclose(rows_of(lines), aggregate(loaded, run, recipe).values, atol=6e-4)
    alone = run_of(models, loaded, TEXT)
    off = [(0, 1), (2, 3)]
    after = run_without(loaded, [alone.encoding], off)[0]
    expected = np.array([cosine(*states) for states in zip(alone.hidden_states, after.hidden_states, strict=True)])
    np.testing.assert_allclose(rows_of(printed(ablation_code(spec, alone.encoding, off))), expected.T, atol=6e-5)


def test_max_sim_s_program_leaves_out_what_the_page_leaves_out(loaded: LoadedModel) -> None:
    """Punctuation, also in bytes, and nothing else: what is not in the vocabulary is a token like others."""
    query, sentences = "rings of a 🪐 planet – “café” 42", our_library().sentences
    query_vectors, *vectors = token_vectors(loaded, [query, *sentences])
    scores = sorted(max_sims([query_vectors], vectors)[0], reverse=True)
    lines = printed(max_sim_code(loaded.spec, query, 10))
    np.testing.assert_allclose([float(line.split()[0]) for line in lines], scores[:10], atol=2e-4)


def test_grammar_counts_a_punctuation_mark_as_a_word(loaded: LoadedModel) -> None:
    """As BERT's tokenizer does; so the program has to do the same with SentencePiece's words."""
    sentences = SENTENCES[:4]
    scored = drained(measure_grammar(loaded, sentences))["subject"]
    lines = printed(grammar_code(loaded.spec, scored, 0, sentences))
    rows = np.array([[float(number) for number in line.strip(" []").split()] for line in lines])
    np.testing.assert_allclose(rows, scored.accuracy[0], atol=6e-4)


class Wiring(Recorder):
    """Keeps what is wired, and wires it, so that what follows an event can be said too."""

    def on(self, triggers: Any, handler: Any, inputs: Any, outputs: Any, **options: Any) -> Any:
        super().on(triggers, handler, inputs, outputs, **options)
        return gr.on(list(triggers), lambda *values: None, None, None)


def parts_called(*names: str) -> list[Any]:
    """Lessons and parts by their place: "tokens" or "attention/heads"."""
    found = {lesson.slug: (lesson, lesson.view.build if lesson.view else lesson.build) for lesson in discover()}
    found |= {f"{lesson.slug}/{part.slug}": (lesson, part.view.build) for lesson in discover() for part in lesson.parts}
    return [pytest.param(*found[name], id=name) for name in names]


@pytest.mark.parametrize("kind", ["roberta", "albert", "modernbert"])
@pytest.mark.parametrize(
    ("lesson", "build"),
    parts_called(
        "tokens", "attention/heads", "attention/rollout", "attention/ablation", "attention/grammar",
        "embeddings/pooling", "embeddings/search", "embeddings/word_senses",
    ),
)  # fmt: skip
def test_every_picture_of_the_part_is_drawn(lesson: Lesson, build: Any, models: Found, kind: str) -> None:
    """With the values that the controls have at first; only folds about WordPiece say that they can't."""
    services, key = Services(models[0], "minilm"), models[1][kind].spec.key
    with gr.Blocks():
        page = empty_page(services, lesson, Wiring)
        build(page)
    bar = {id(page.text): TEXT, id(page.text_pair): PAIR, id(page.model): key}
    drawn = 0
    for handler, inputs, _ in page.wired:
        values = [bar.get(id(component), getattr(component, "value", None)) for component in inputs]
        takes = [one for one in inspect.signature(handler).parameters.values() if one.kind is not one.KEYWORD_ONLY]
        if not any(component is page.model for component in inputs):  # one of `draw`, which hands a Sentence
            if takes and takes[0].name not in ("sentence", "inputs", "values"):
                continue
            values = [Sentence(TEXT, PAIR, key), *values]
        try:
            answer = handler(*values)
            drawn += len(list(answer) if inspect.isgenerator(answer) else [answer])
        except UserError as error:
            assert "of BERT's kind" in str(error), error  # noqa: PT017
    assert drawn


def test_where_it_does_not_fit_it_is_refused_in_one_sentence(loaded: LoadedModel, models: Found) -> None:
    services, key = Services(models[0], "minilm"), loaded.spec.key
    assert services.loaded(key).spec.key == key
    handed: list[Services] = []
    view: Any = SimpleNamespace(build=lambda page: handed.append(page.services))
    part = Part("Part", "Look.", view, 1, slug="part")
    for lesson in (
        Lesson("a", 1, "A", "A?", "Look.", parts=(part,)),
        Lesson("b", 1, "B", "B?", "Look.", parts=(replace(part, only_bert=True),)),
        Lesson("c", 1, "C", "C?", "Look.", parts=(part,), only_bert=True),
    ):
        with gr.Blocks():
            build_lesson(empty_page(services, lesson))
    assert [one.only_bert for one in handed] == [False, True, True]
    for one in handed[1:]:
        assert one.loaded("minilm").spec.key == "minilm"
        for ask in (one.loaded, one.pretrained, one.key):
            with pytest.raises(
                UserError, match=r"can't be used in this part, which works only with BERT and DistilBERT models\."
            ):
                ask(key)
    with pytest.raises(UserError, match="head"):
        services.pretrained(key)


def test_which_lessons_take_bert_alone() -> None:
    assert {lesson.slug for lesson in discover() if lesson.only_bert} == {
        "overview", "encoder", "pretraining", "finetune",
    }  # fmt: skip
    parts = {(lesson.slug, part.slug) for lesson in discover() for part in lesson.parts if part.only_bert}
    assert parts == {("embeddings", "siamese")}

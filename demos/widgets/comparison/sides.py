"""Two at once: the two runs, and their heads, that the controls select."""

from dataclasses import dataclass

from demos.bert.attention.comparison import Comparison, Which, compare
from demos.bert.attention.contributions import WEIGHT, measured
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.local_layers import kind_said, reaches
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.figures.cosine_heatmap import short
from demos.page.services import Sentence, Services
from demos.widgets.comparison.figure import Side

SENTENCES, MODELS, TUNED = "sentences", "models", "tuned"
ALL, MEAN, SAME = "all", "mean", "same"
NO_RUN = (
    "You have not fine-tuned a model yet. Train one in the Fine-tune lesson, then return here to see what has changed."
)
SAME_MODEL = "Both sides use the same model; choose a different one."
BARS_OWN = (
    "The right side shows the second sentence from the top of the page. Each sentence is encoded separately here."
)


@dataclass(frozen=True)
class ComparisonForm:
    """The values of the controls. `run` is the id of this reader's fine-tune, "" without one."""

    run: str
    mode: str  # SENTENCES, MODELS or TUNED
    model: str  # catalogue key of the second model, "" before one is chosen
    text: str  # the other sentence, for where the bar holds one only
    layer: str
    head: str
    layer_right: str = SAME
    head_right: str = SAME
    measure: str = WEIGHT  # or CONTRIBUTION

    def waits(self, services: Services) -> bool:
        """Whether the second model must be loaded first. Raises UserError for one that is not in the catalogue."""
        return self.mode == MODELS and bool(self.model) and not services.store.ready(services.key(self.model))


@dataclass(frozen=True)
class Pair:
    """Both sides, compared."""

    comparison: Comparison
    left: Side
    right: Side
    specs: tuple[ModelSpec, ModelSpec]
    note: str  # a sentence to show, or ""


Inputs = tuple[list[LoadedModel], list[str], list[tuple[str, str]], str]  # models, titles, texts and pairs, note


def pair_of(services: Services, sentence: Sentence, form: ComparisonForm) -> Pair:
    """Run what is wanted on both sides and compare it; loads no second model (see `ComparisonForm.waits`).

    Raises UserError, one sentence, if a side is missing.
    """
    inputs = {MODELS: _two_models, TUNED: _before_and_after}.get(form.mode, _two_sentences)
    models, titles, texts, note = inputs(services, sentence, form)
    runs = [services.runs.get(loaded, *text) for loaded, text in zip(models, texts, strict=True)]
    layer = form.layer if form.layer_right == SAME else form.layer_right
    head = form.head if form.head_right == SAME else form.head_right
    left = Side(titles[0], runs[0], which(runs[0], form.layer, form.head))
    right = Side(titles[1], runs[1], which(runs[1], layer, head))
    cased = all(loaded.spec.cased for loaded in models)
    of_left, of_right = (measured(loaded, run, form.measure) for loaded, run in zip(models, runs, strict=True))
    comparison = compare(of_left, of_right, left.which, right.which, fold=not cased)
    note = " ".join(filter(None, (note, *_kinds(models, (left, right)))))
    return Pair(comparison, left, right, (models[0].spec, models[1].spec), note)


def _kinds(models: list[LoadedModel], sides: tuple[Side, Side]) -> list[str]:
    """Sentences on whether the layers shown are global or local; none for models whose layers are alike."""
    first, second = (
        kind_said(reaches(loaded.model.config), side.which.layer, len(side.run.encoding))
        for loaded, side in zip(models, sides, strict=True)
    )
    if first == second:
        return [first]
    both = {"left": first, "right": second}
    return [f"On the {name}, {said[0].lower()}{said[1:]}" for name, said in both.items() if said]


def _two_models(services: Services, sentence: Sentence, form: ComparisonForm) -> Inputs:
    if not form.model:
        raise UserError("Choose the second model.")
    models = [services.loaded(sentence.model), services.loaded(form.model)]
    note = SAME_MODEL if models[0].spec.key == models[1].spec.key else ""
    return models, [loaded.spec.title for loaded in models], [(sentence.text, sentence.text_pair)] * 2, note


def _before_and_after(services: Services, sentence: Sentence, form: ComparisonForm) -> Inputs:
    """A fine-tune, the bar's own run or else the reader's newest, is compared with the model that it began as."""
    own = services.own_run(sentence.model)
    run = own or form.run
    if not run:
        raise UserError(NO_RUN)
    models = [services.loaded(services.trainings.runs.base(run)), services.tuned(run)]
    title = models[0].spec.title
    other = not own and services.key(sentence.model) != models[0].spec.key
    note = f"Your model was fine-tuned from {title}, so it is compared with that model." if other else ""
    after = f"after fine-tuning{f' ({services.loaded(sentence.model).spec.title})' if own else ''}"
    return models, [f"before, {title}", after], [(sentence.text, sentence.text_pair)] * 2, note


def _two_sentences(services: Services, sentence: Sentence, form: ComparisonForm) -> Inputs:
    """The bar's second sentence, alone, where there is one; else the other text box."""
    both = sentence.text_pair.strip() != ""
    texts = [
        clean_text(sentence.text, "The sentence"),
        clean_text(sentence.text_pair if both else form.text, "The other sentence"),
    ]
    if not texts[1].strip():
        raise UserError("Write the other sentence, here or at the top of the page.")
    titles = [f"“{short(text, 70)}”" for text in texts]
    return [services.loaded(sentence.model)] * 2, titles, [(text, "") for text in texts], BARS_OWN if both else ""


def which(run: Run, layer: str, head: str) -> Which:
    """Two menus' answers for a run; a layer or head beyond the model's becomes its last one."""
    if layer == ALL:
        return Which()
    at = min(int(layer or 0), run.num_layers - 1)
    return Which(at, None if head == MEAN else min(int(head or 0), run.num_heads - 1))

"""Two at once: which two runs, and which of their heads, the controls ask for."""

from __future__ import annotations

from dataclasses import dataclass

from demos.bert.attention.comparison import Comparison, Which, compare
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.figures.cosines import short
from demos.page.services import Sentence, Services
from demos.widgets.comparison.figure import Side

SENTENCES, MODELS, TUNED = "sentences", "models", "tuned"
ALL, MEAN, SAME = "all", "mean", "same"
NO_RUN = "You have fine-tuned no model yet: train one in the Fine-tune tab, then come back to see what it changed."
SAME_MODEL = "Both sides are the same model: choose another one."
BARS_OWN = "The bar's second sentence stands on the right; each is read alone here."


@dataclass(frozen=True)
class Asked:
    """What the controls say. `run` is the id of this reader's fine-tune, "" without one."""

    run: str
    mode: str  # SENTENCES, MODELS or TUNED
    model: str  # catalogue key of the second model, "" before one is chosen
    text: str  # the other sentence, for where the bar holds one only
    layer: str
    head: str
    layer_right: str = SAME
    head_right: str = SAME

    def waits(self, services: Services) -> bool:
        """Whether the second model must be loaded first. Raises UserError for one that is not in the catalogue."""
        return self.mode == MODELS and bool(self.model) and not services.store.ready(services.key(self.model))


@dataclass(frozen=True)
class Pair:
    """Both sides, compared."""

    found: Comparison
    left: Side
    right: Side
    specs: tuple[ModelSpec, ModelSpec]
    note: str  # a sentence to tell, or ""


def pair_of(services: Services, sentence: Sentence, asked: Asked) -> Pair:
    """Run what is asked for on both sides and compare it; loads no second model (see `Asked.waits`).

    Raises UserError, one sentence, where a side is missing.
    """
    if asked.mode == MODELS:
        models, titles, note = _two_models(services, sentence, asked)
    elif asked.mode == TUNED:
        models, titles, note = _before_and_after(services, sentence, asked)
    else:
        return _two_sentences(services, sentence, asked)
    left, right = (services.runs.get(loaded, sentence.text, sentence.text_pair) for loaded in models)
    return _pair(models, titles, (left, right), asked, note)


def _two_models(services: Services, sentence: Sentence, asked: Asked) -> tuple[list[LoadedModel], list[str], str]:
    if not asked.model:
        raise UserError("Choose the second model.")
    models = [services.loaded(sentence.model), services.loaded(asked.model)]
    same = models[0].spec.key == models[1].spec.key
    return models, [loaded.spec.title for loaded in models], SAME_MODEL if same else ""


def _before_and_after(services: Services, sentence: Sentence, asked: Asked) -> tuple[list[LoadedModel], list[str], str]:
    """A fine-tune is held against the model that it began as, whichever the bar uses."""
    if not asked.run:
        raise UserError(NO_RUN)
    after = services.tuned(asked.run)
    before = services.loaded(services.workshop.runs.base(asked.run))
    title = before.spec.title
    other = services.key(sentence.model) != before.spec.key
    note = f"Your fine-tune began as {title}, so it is held against that." if other else ""
    return [before, after], [f"before, {title}", "after your fine-tune"], note


def _two_sentences(services: Services, sentence: Sentence, asked: Asked) -> Pair:
    """The bar's second sentence, alone, where there is one; else the other text box."""
    loaded = services.loaded(sentence.model)
    both = sentence.text_pair.strip() != ""
    texts = [
        clean_text(sentence.text, "The sentence"),
        clean_text(sentence.text_pair if both else asked.text, "The other sentence"),
    ]
    if not texts[1].strip():
        raise UserError("Write the other sentence, here or in the bar.")
    left, right = services.runs.get_many(loaded, [(text, "") for text in texts])
    return _pair(
        [loaded] * 2, [f"“{short(text, 70)}”" for text in texts], (left, right), asked, BARS_OWN if both else ""
    )


def _pair(models: list[LoadedModel], titles: list[str], runs: tuple[Run, Run], asked: Asked, note: str) -> Pair:
    specs = (models[0].spec, models[1].spec)
    layer = asked.layer if asked.layer_right == SAME else asked.layer_right
    head = asked.head if asked.head_right == SAME else asked.head_right
    left, right = which(runs[0], asked.layer, asked.head), which(runs[1], layer, head)
    found = compare(*runs, left, right, fold=not (specs[0].cased and specs[1].cased))
    return Pair(found, Side(titles[0], runs[0], left), Side(titles[1], runs[1], right), specs, note)


def which(run: Run, layer: str, head: str) -> Which:
    """Two menus' answers for a run; a layer or head beyond the model's becomes its last one."""
    if layer == ALL:
        return Which()
    at = min(int(layer), run.num_layers - 1)
    return Which(at, None if head == MEAN else min(int(head), run.num_heads - 1))

"""The notes below a run's scores: that it learned nothing, and the accuracy of the untrained encoder's vectors."""

from demos.bert.embeddings.pooling import Choice
from demos.lessons.finetune.train.start import Start
from demos.page.services import Services
from demos.templates import templates
from demos.training.data.labelled_sentences import MIN_LEARNED
from demos.training.data.splits import Splits
from demos.training.export.recipe_file import Recipe
from demos.training.form_values import UPLOAD
from demos.training.frozen_classifier import fit_splits
from demos.training.results.learned_nothing import LearnedNothing
from demos.training.tasks.classification.data import Dataset

MOST_FROZEN = 600  # sentences of a file whose frozen vectors are classified too: seconds
TEXT = templates(__file__, "beside_scores.html")


def nothing_html(nothing: LearnedNothing | None) -> str:
    """A notice that a run has learned nothing, with the evidence and a remedy; "" for any other run."""
    return TEXT.learned_nothing(nothing.on_page) if nothing else ""


def frozen_html(services: Services, start: Start, recipe: Recipe, data: Splits) -> str:
    """A sentence on the accuracy of the untrained encoder's vectors, for a small file of sentences; else ""."""
    if start.record or recipe.data != UPLOAD or not isinstance(data, Dataset) or recipe.task != "sentence":
        return ""
    texts = [example.text for example in (*data.train, *data.test)]
    if len(texts) > MOST_FROZEN or min(data.counts("train")) < MIN_LEARNED:
        return ""
    loaded = services.loaded(recipe.model)
    (vectors,) = services.vectors.get(loaded, texts, [Choice("mean", loaded.spec.num_layers)])
    return TEXT.frozen(fit_splits(vectors, data).scores.accuracy, len(data.test))

"""Data sets that a benchmark is made of, by their ids on the Hub: GLUE's nine tasks, each with the metric of its board.

A data set's id says which rows a run is tested on: `owner/name:config:split`. Only equal ids are the same data; a name
of a file never says what is in it.
"""

from dataclasses import dataclass

from demos.training.metrics import ACCURACY, MCC, PEARSON, SPEARMAN, f1_of

REPOSITORY = "nyu-mll/glue"


def data_id(repository: str, config: str | None, split: str) -> str:
    """The id of a data set of the Hub, tested on this split; "default" is the name of a config that has none."""
    return f"{repository}:{'' if config in (None, 'default') else config}:{split}".lower()


@dataclass(frozen=True)
class GlueTask:
    """One task of GLUE (Wang et al. 2019, table 1)."""

    title: str
    config: str  # on the Hub
    kind: str  # of task here: sentence, pair or similarity
    columns: tuple[str, ...]  # the Hub's names for the columns of sentences
    metric: str  # the BERT paper's metric for the task (Devlin et al. 2019, table 1)
    beside: tuple[str, ...] = ()  # the leaderboard's second one
    positive: str = ""  # the class that F1 is of
    tested: str = ""  # the split to test on, where that has to be said

    @property
    def hub(self) -> str:
        """The name that the reader types to fetch it."""
        return f"{REPOSITORY}:{self.config}{':' * bool(self.tested)}{self.tested}"


GLUE = (
    GlueTask("CoLA", "cola", "sentence", ("sentence",), MCC),
    GlueTask("SST-2", "sst2", "sentence", ("sentence",), ACCURACY),
    GlueTask(
        "MRPC", "mrpc", "pair", ("sentence1", "sentence2"), f1_of("equivalent"), (ACCURACY,), positive="equivalent"
    ),
    GlueTask("QQP", "qqp", "pair", ("question1", "question2"), f1_of("duplicate"), (ACCURACY,), positive="duplicate"),
    GlueTask("MNLI", "mnli", "pair", ("premise", "hypothesis"), ACCURACY),
    GlueTask("MNLI-mm", "mnli", "pair", ("premise", "hypothesis"), ACCURACY, tested="validation_mismatched"),
    GlueTask("QNLI", "qnli", "pair", ("question", "sentence"), ACCURACY),
    GlueTask("RTE", "rte", "pair", ("sentence1", "sentence2"), ACCURACY),
    GlueTask("WNLI", "wnli", "pair", ("sentence1", "sentence2"), ACCURACY),
    GlueTask("STS-B", "stsb", "similarity", ("sentence1", "sentence2"), SPEARMAN, (PEARSON,)),
)
POSITIVE = {"paraphrase": "paraphrase"}  # of our own data sets with two classes, the class that is looked for


def glue_task(source: str) -> GlueTask | None:
    """The task of GLUE that this id is of, whichever split it names; None for any other data."""
    data = source.rpartition(":")[0]
    return next((task for task in GLUE if data == f"{REPOSITORY}:{task.config}"), None)


def metric_of(source: str) -> str:
    """By which metric a run on this data with classes is judged first."""
    task = glue_task(source)
    return task.metric if task else ACCURACY


def positive_class(source: str, labels: tuple[str, ...]) -> str:
    """The positive one of two classes, for which precision, recall and F1 are usually given; "" if neither class is.

    Classes that are called 0 and 1 are "no" and "yes", as in scikit-learn (pos_label=1).
    """
    task = glue_task(source)
    positive = task.positive if task else POSITIVE.get(source, "1" if labels == ("0", "1") else "")
    return positive if positive in labels and len(labels) == 2 else ""

"""Mix the layers in words: the training, its results, the tables."""

from collections.abc import Mapping

from demos.templates import templates
from demos.training.bilstm_tagger import EPOCHS, UNITS, Epoch, Tagged
from demos.training.layer_mix import FIXED, MIX, STEPS, Comparison, Reading, Step
from demos.training.results.published import boards
from demos.training.tasks.entities.data import EntityDataset

TEXT = templates(__file__)
EVERY = 10  # of the steps are in the table
BOARD = "Names, by layer"
NAMES = {  # each choice: as the page speaks of it, as the table of published results does
    "embeddings": ("embeddings (0)", "embeddings"),
    "second_to_last": ("second-to-last layer", "second-to-last layer"),
    "last": ("last layer", "last layer"),
    "sum_all": ("sum of all layers but 0, equal shares", "weighted sum of all 12 layers"),
    "sum_last_four": ("sum of the last four, equal shares", "weighted sum of the last four"),
    "concat_last_four": ("last four, concatenated", "last four, concatenated"),
    MIX: ("all layers, learned shares", ""),
}


def before_html(dataset: EntityDataset, states: int) -> str:
    """A sentence on the training of "Train", for a model with this many states (its layers and the embeddings)."""
    train, test = (sum(len(sentence.words) for sentence in split) for split in (dataset.train, dataset.test))
    return TEXT.before(states, train, test, sum(dataset.counts("test")))


def progress_html(event: Reading | Step | Epoch) -> str:
    if isinstance(event, Reading):
        return TEXT.reading(event.done, event.total)
    if isinstance(event, Epoch):
        return TEXT.epoch(event, EPOCHS)
    return TEXT.step(event.step, STEPS, event.loss)


def after_html(comparison: Comparison) -> str:
    """The largest share, and the mix beside the fixed choices."""
    last = comparison.steps[-1]
    by_hand = {name: comparison.scores[name].f1 for name in FIXED}
    best = max(by_hand, key=by_hand.__getitem__)
    share = max(last.shares)
    return TEXT.after(
        layer=last.shares.index(share),
        share=share,
        gamma=last.gamma,
        first=comparison.steps[0].loss,
        last=last.loss,
        mix=comparison.scores[MIX].f1,
        best=by_hand[best],
        best_name=NAMES[best][0],
        low=min(by_hand.values()),
        high=by_hand[best],
    )


def bilstm_html(choice: str, result: Tagged, linear: Comparison | None) -> str:
    """A BiLSTM's F1, beside that of the linear classifier on the same vectors where it is known."""
    return TEXT.bilstm(NAMES[choice][0], result, linear and linear.scores[choice].f1)


def scores_html(comparison: Comparison | None, taggers: Mapping[str, Tagged]) -> str:
    """Each choice's scores, those of its BiLSTM, and the published one; a dash for what has not been trained."""
    paper = {row.system: row.values[0] for row in boards()[BOARD].rows}
    rows = [
        (
            label,
            comparison and comparison.widths[name],
            comparison and comparison.scores[name],
            taggers.get(name),
            paper.get(system),
        )
        for name, (label, system) in NAMES.items()
    ]
    return TEXT.scores(rows, UNITS)


def steps_html(comparison: Comparison) -> str:
    """The mix along its training."""
    return TEXT.steps(
        comparison.steps[::EVERY], [f"layer {number}" for number in range(len(comparison.steps[0].shares))]
    )

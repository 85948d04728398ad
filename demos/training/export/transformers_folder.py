"""A kept run as a transformers folder: weights and configuration of a class that `from_pretrained` knows.

Wherever a stock class computes what was trained, the folder holds that class's weights and nothing else; where none
does, a small file with the model's own class lies beside them (demos/training/export/modeling_head.py).
"""

from __future__ import annotations

import copy
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import nn

from demos.errors import UserError
from demos.training.export import modeling_head
from demos.training.export.rewriting import NAMES, rewritten, why_not
from demos.training.learning.model import Trained
from demos.training.tasks.registry import kind_of

WEIGHTS, README = "model.safetensors", "README.md"
CODE = Path(modeling_head.__file__)
# Of an encoder's config: of other programs, and where it lay on the server, which would name the run.
NOT_TOLD = ("transformers_version", "architectures", "_name_or_path")


@dataclass(frozen=True)
class Shape:
    """What a kind of task is to transformers."""

    ending: str  # of its classes' names: "ForSequenceClassification"
    tag: str  # the Hub's name of the task
    pooled: bool  # one vector a sequence
    last: str  # the stock classes' last layer


SHAPES = {
    "classification": Shape("ForSequenceClassification", "text-classification", True, "classifier"),
    "entities": Shape("ForTokenClassification", "token-classification", False, "classifier"),
    "question": Shape("ForQuestionAnswering", "question-answering", False, "qa_outputs"),
    "choice": Shape("ForMultipleChoice", "multiple-choice", True, "classifier"),
}
PREFIXES = {"bert": "Bert", "distilbert": "DistilBert"}


@dataclass(frozen=True)
class Form:
    """As what a run's model is written."""

    shape: Shape
    architecture: str  # the class's name
    why_own: str  # why it is a class of its own; "" where it is a stock one
    mean_layer: bool  # one more layer makes the mean

    @property
    def auto(self) -> str:
        """The class of transformers that loads it."""
        return f"AutoModel{self.shape.ending}"


def form_of(task: Any, config: Any) -> Form:
    """As what this task's model on an encoder of this configuration is written.

    Raises UserError for a task that has no layers on top, as sentence vectors have none.
    """
    kind = kind_of(task)
    if kind not in SHAPES:
        raise UserError("Only a model with a head on top can be kept here; this one is an encoder alone.")
    shape = SHAPES[kind]
    pooling = getattr(task, "pooling", "mean") if shape.pooled else ""
    outputs = {"choice": 1, "question": 2}.get(kind) or len(task.labels)
    why = why_not(config.model_type, config.hidden_size, pooling, task.hidden, task.activation, outputs)
    architecture = f"Head{shape.ending}" if why else f"{PREFIXES[config.model_type]}{shape.ending}"
    return Form(shape, architecture, why, not why and pooling == "mean")


def how_loaded(task: Any, config: Any) -> str:
    """Which class the folder holds and why, in a sentence or two."""
    form = form_of(task, config)
    if form.why_own:
        return (
            f"Loads with trust_remote_code=True, and gives the same predictions: no stock class fits, because "
            f"{form.why_own}. The class lies beside the weights as {CODE.name}."
        )
    told = f"Loads as it is, as {form.architecture}."
    if form.mean_layer:
        told += (
            " That class reads [CLS]; so the mean is written as one more layer, in which every token looks at all "
            "tokens evenly (exact up to rounding)."
        )
    return told


def export(trained: Trained, folder: Path) -> Form:
    """Write the model into `folder`, which is made: weights (safetensors), configuration, tokenizer, perhaps a class.

    Its logits are `trained`'s up to float32's rounding. Raises UserError for a task without a head, OSError where the
    disk says no.
    """
    task, encoder = trained.task, trained.model.encoder
    form = form_of(task, encoder.config)
    folder.mkdir(parents=True, exist_ok=True)
    linears = [layer for layer in trained.model.head.modules() if isinstance(layer, nn.Linear)]
    labels = {} if form.shape.last == "qa_outputs" or not task.labels else dict(enumerate(task.labels))
    state, config = (_own if form.why_own else _stock)(trained, form, linears)
    config.architectures = [form.architecture]
    if labels and form.shape.ending != "ForMultipleChoice":
        config.id2label = labels
        config.label2id = {label: number for number, label in labels.items()}
    if form.shape.tag == "text-classification":
        config.problem_type = "single_label_classification"
    config.save_pretrained(folder)
    if form.why_own:
        shutil.copyfile(CODE, folder / CODE.name)
    weights = {name: value.detach().cpu().contiguous() for name, value in state.items()}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    (folder / WEIGHTS).chmod(0o644)  # safetensors writes for its owner alone
    tokenizer = copy.deepcopy(trained.model.tokenizer)  # other threads read with that one
    tokenizer.model_max_length = trained.max_length
    tokenizer.save_pretrained(folder)
    return form


def _stock(trained: Trained, form: Form, linears: list[nn.Linear]) -> tuple[dict[str, Any], Any]:
    encoder = trained.model.encoder
    config = copy.deepcopy(encoder.config)
    names = NAMES[config.model_type]
    setattr(config, names.dropout, trained.task.dropout)  # type: ignore[attr-defined]
    if form.shape.pooled:
        state, changed = rewritten(encoder, linears, trained.task.pooling)  # type: ignore[attr-defined]
        for name, value in changed.items():
            setattr(config, name, value)
        return state, config
    state = {f"{names.prefix}.{name}": value for name, value in encoder.state_dict().items()}
    state = {name: value for name, value in state.items() if not name.startswith(f"{names.prefix}.pooler.")}
    last = form.shape.last
    return state | {f"{last}.weight": linears[0].weight, f"{last}.bias": linears[0].bias}, config


def _own(trained: Trained, form: Form, linears: list[nn.Linear]) -> tuple[dict[str, Any], Any]:
    task: Any = trained.task
    told = trained.model.encoder.config.to_dict()
    told = {name: value for name, value in told.items() if name not in NOT_TOLD}
    config = modeling_head.HeadConfig(
        encoder=told,
        pooling=getattr(task, "pooling", "mean"),
        widths=list(task.hidden),
        outputs=linears[-1].out_features,
        activation=task.activation,
        head_dropout=task.dropout,
    )
    module = CODE.stem
    config.auto_map = {"AutoConfig": f"{module}.HeadConfig", form.auto: f"{module}.{form.architecture}"}
    state = {f"encoder.{name}": value for name, value in trained.model.encoder.state_dict().items()}
    state |= {f"head.{name}": value for name, value in trained.model.head.state_dict().items()}
    return state, config

"""A kept run as a transformers folder: weights and configuration of a class that `from_pretrained` knows.

Where the layers of a stock class are the very ones that were trained, the folder holds that class's weights and nothing
else; for every other head (a mean over the tokens, several dense layers) a small file with the model's own class lies
beside them (demos/training/export/modeling_head.py). A stock class can be made to give a mean's numbers too, by one
more layer of very large constants; but nobody can read such a model, train it further or run it in half precision, and
the own class is what was trained, in plain PyTorch.
"""

import copy
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn

from demos.errors import UserError
from demos.training.export import modeling_head
from demos.training.learning.model import Trained

WEIGHTS, README = "model.safetensors", "README.md"
CODE = Path(modeling_head.__file__)
# Of an encoder's config: of other programs, and where it lay on the server, which would name the run.
NOT_TOLD = ("transformers_version", "architectures", "_name_or_path")


@dataclass(frozen=True)
class Shape:
    """A kind of task in terms of transformers."""

    ending: str  # of its classes' names: "ForSequenceClassification"
    tag: str  # the Hub's name of the task
    pooled: bool  # one vector a sequence
    last: str  # the stock classes' last layer
    problem: str = ""  # the configuration's problem_type, where its classes need one


REGRESSION, MULTI_LABEL = "regression", "multi_label_classification"
SHAPES = {
    "classification": Shape(
        "ForSequenceClassification", "text-classification", True, "classifier", "single_label_classification"
    ),
    "entities": Shape("ForTokenClassification", "token-classification", False, "classifier"),
    "question": Shape("ForQuestionAnswering", "question-answering", False, "qa_outputs"),
    "similarity": Shape("ForSequenceClassification", "text-classification", True, "classifier", REGRESSION),
    "labels": Shape("ForSequenceClassification", "text-classification", True, "classifier", MULTI_LABEL),
    "choice": Shape("ForMultipleChoice", "multiple-choice", True, "classifier"),
}


@dataclass(frozen=True)
class Stock:
    """The names that transformers' classes of one architecture give to the layers on top of the encoder."""

    name: str  # the beginning of the classes' names
    encoder: str  # the encoder in them
    dense: str  # the dense layer that reads [CLS]
    activation: str  # after that dense layer
    dropout: str  # the configuration's field for the head's dropout


STOCK = {
    "bert": Stock("Bert", "bert", "bert.pooler.dense", "tanh", "classifier_dropout"),
    "distilbert": Stock("DistilBert", "distilbert", "pre_classifier", "relu", "seq_classif_dropout"),
}


@dataclass(frozen=True)
class Form:
    """As what a run's model is written."""

    shape: Shape
    architecture: str  # the class's name
    why_own: str  # the reason for a separate class, as the end of "... because"; "" for a stock one
    tau: float | None = None  # the threshold of "no answer", which is no weight; None where it is never the answer
    scale: tuple[int, int] | None = None  # of the scores of single texts; None of any other task

    @property
    def auto(self) -> str:
        """The class of transformers that loads it."""
        return f"AutoModel{self.shape.ending}"


def form_of(task: Any, config: Any) -> Form:
    """As what this task's model on an encoder of this configuration is written.

    Raises UserError for a task that has no layers on top, as sentence vectors have none.
    """
    if task.kind not in SHAPES:
        raise UserError("Only a model with a head can be exported here; this model is only an encoder.")
    shape = SHAPES[task.kind]
    why = _why_own(task, config, shape)
    tau = task.tau if getattr(task, "unanswerable", False) else None
    scale = (task.points[0], task.points[-1]) if getattr(task, "single", False) else None
    return Form(shape, f"{'Head' if why else STOCK[config.model_type].name}{shape.ending}", why, tau, scale)


def _why_own(task: Any, config: Any, shape: Shape) -> str:
    if config.model_type not in STOCK:
        return f"transformers has no such class for {config.model_type}"
    if not shape.pooled:
        return "its class has one linear layer on each token, but this head has more layers" if task.hidden else ""
    if task.pooling == "none":
        return "its class uses [CLS], but this head reads the vectors of all tokens"
    if task.pooling != "cls":
        return f"its class uses [CLS], but this head uses the {task.pooling} over the tokens"
    activation = STOCK[config.model_type].activation
    if (task.hidden, task.activation) != ((config.hidden_size,), activation):
        return f"its class has one dense layer of {config.hidden_size} with {activation}, but this head does not"
    return ""


def how_loaded(task: Any, config: Any) -> str:
    """The class of the folder and the reason for it, in a sentence or two."""
    form = form_of(task, config)
    if not form.why_own:
        return f"The folder can be loaded directly, as {form.architecture}."
    return (
        "The folder can be loaded with trust_remote_code=True and gives the same predictions. No standard class "
        "fits, because "
        f"{form.why_own}. The class is in the file {CODE.name}, next to the weights."
    )


def export(trained: Trained, folder: Path) -> Form:
    """Write the model into `folder`, which is made: weights (safetensors), configuration, tokenizer, perhaps a class.

    Its logits are `trained`'s up to float32's rounding. Raises UserError for a task without a head, OSError where the
    disk says no.
    """
    task, encoder = trained.task, trained.model.encoder
    form = form_of(task, encoder.config)
    folder.mkdir(parents=True, exist_ok=True)
    linears = [layer for layer in trained.model.head.modules() if isinstance(layer, nn.Linear)]
    names: Any = getattr(task, "output_names", task.labels)
    labels = {} if form.shape.last == "qa_outputs" or not names else dict(enumerate(names))
    state, config = (_own if form.why_own else _stock)(trained, form, linears)
    config.architectures = [form.architecture]
    if labels and form.shape.ending != "ForMultipleChoice":
        config.id2label = labels
        config.label2id = {label: number for number, label in labels.items()}
    if form.shape.problem:
        config.problem_type = form.shape.problem
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


def _stock(trained: Trained, form: Form, linears: list[nn.Linear]) -> tuple[dict[str, torch.Tensor], Any]:
    config = copy.deepcopy(trained.model.encoder.config)
    names = STOCK[config.model_type]
    setattr(config, names.dropout, trained.task.dropout)  # type: ignore[attr-defined]
    encoder = trained.model.encoder.state_dict().items()
    state = {f"{names.encoder}.{name}": value for name, value in encoder if not name.startswith("pooler.")}
    for name, linear in zip([names.dense, form.shape.last][-len(linears) :], linears, strict=True):
        state |= {f"{name}.weight": linear.weight, f"{name}.bias": linear.bias}
    return state, config


def _own(trained: Trained, form: Form, linears: list[nn.Linear]) -> tuple[dict[str, torch.Tensor], Any]:
    task: Any = trained.task
    encoder_config = trained.model.encoder.config.to_dict()
    encoder_config = {name: value for name, value in encoder_config.items() if name not in NOT_TOLD}
    config = modeling_head.HeadConfig(
        encoder=encoder_config,
        pooling=getattr(task, "pooling", "mean"),
        positions=max(1, getattr(task, "positions", 1)),
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

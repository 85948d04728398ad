"""A run's own model: an encoder read fresh from its files, a head on it, and how both are kept and read again."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModel, AutoTokenizer, PreTrainedConfig

from demos.bert.model.models import nbytes_of
from demos.bert.model.text import clean_text
from demos.bert.model.weights import read_weights
from demos.training.export.modeling_head import HeadConfig, HeadModel
from demos.training.learning.batches import scoring_batches
from demos.training.tasks.classification.data import Example
from demos.training.tasks.registry import read_task
from demos.training.tasks.task import Batch, Features, Task

HEAD, RECIPE = "head.safetensors", "run.json"


@dataclass(frozen=True)
class Model:
    """Encoder, head and tokenizer of one run; nobody else holds them."""

    encoder: Any  # BertModel or DistilBertModel
    head: nn.Module
    tokenizer: Any

    def modules(self) -> nn.ModuleList:
        """Both parts, to count, move and switch them together."""
        return nn.ModuleList([self.encoder, self.head])


def load_encoder(folder: Path | str, attention: str = "sdpa") -> Any:
    """A fresh encoder in float32 from a local folder, a model's or a run's, safetensors only, all its dropout off.

    Off, because a run's numbers must not depend on the global random generator, and because dropout in the attention
    keeps the CPU from its fused kernel. BERT's pooler, which nothing here reads, is not changed.

    Its weights are copied out of the files, which transformers maps into memory: Windows deletes no mapped file, and
    a run's are deleted while its model may be in use.
    """
    config, _ = PreTrainedConfig.get_config_dict(folder, local_files_only=True)
    if config["model_type"] == HeadConfig.model_type:  # a run's folder, as it is downloaded
        encoder = read_weights(HeadModel, folder, attention).encoder
    else:
        encoder = read_weights(AutoModel, folder, attention)
    for weight in encoder.parameters():
        weight.data = weight.data.clone()
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler.requires_grad_(False)
    return encoder


def redraw_layers(encoder: Any, seed: int, embeddings: bool = False) -> None:
    """Make the Transformer layers what they were before any training; the embeddings stay, unless they are to go too.

    Weights from N(0, 0.02²), biases 0, LayerNorms 1 and 0, as Devlin et al.'s code begins (initializer_range).
    """
    layers = encoder.encoder if hasattr(encoder, "encoder") else encoder.transformer  # BERT's name, DistilBERT's
    generator = torch.Generator().manual_seed(seed)
    for module in [*layers.modules(), *(encoder.embeddings.modules() if embeddings else ())]:
        if isinstance(module, nn.Linear | nn.Embedding):
            drawn = torch.empty(module.weight.shape).normal_(0, 0.02, generator=generator)
            module.weight.data.copy_(drawn)
            if isinstance(module, nn.Linear):
                module.bias.data.zero_()
        elif isinstance(module, nn.LayerNorm):
            module.weight.data.fill_(1)
            module.bias.data.zero_()


def load_tokenizer(folder: Path | str) -> Any:
    """The fast tokenizer of a local folder."""
    return AutoTokenizer.from_pretrained(folder, use_fast=True, trust_remote_code=False, local_files_only=True)


@dataclass
class CompactRows:
    """Only those rows of the word embeddings that occur in the data, for as long as training lasts.

    A row that never occurs has no gradient, and no decay is put on embeddings, so the result is the same to the bit;
    the optimizer is spared 30,522 rows of which a few hundred move.
    """

    full: torch.Tensor  # [V, d]: the encoder's own, as it was until `restore`
    rows: torch.Tensor  # the ids that occur, ascending
    position: torch.Tensor  # [V]: id -> its row among `rows`

    @classmethod
    def shrink(cls, encoder: Any, ids: Iterable[int], padding: int) -> Self:
        """Put the small table into `encoder`; `renumber` says which ids it then takes."""
        old = encoder.get_input_embeddings()
        rows = torch.tensor(sorted({*ids, padding}), device=old.weight.device)
        position = torch.zeros(len(old.weight), dtype=torch.long, device=rows.device)
        position[rows] = torch.arange(len(rows), device=rows.device)
        small = nn.Embedding.from_pretrained(
            old.weight.detach()[rows].clone(), freeze=False, padding_idx=int(position[padding])
        )
        encoder.set_input_embeddings(small)
        return cls(old.weight.detach(), rows, position)

    def renumber(self, input_ids: torch.Tensor) -> torch.Tensor:
        """The tokenizer's ids as rows of the small table."""
        return self.position[input_ids]

    def restore(self, encoder: Any, padding: int) -> None:
        """Put the full table back, the trained rows scattered into it."""
        self.full[self.rows] = encoder.get_input_embeddings().weight.detach()
        encoder.set_input_embeddings(nn.Embedding.from_pretrained(self.full, freeze=False, padding_idx=padding))


def collate(task: Task, features: Sequence[Features], padding: int, device: str | torch.device) -> Batch:
    """A padded batch of these examples on `device`."""
    rows = [sequence for feature in features for sequence in feature.sequences]
    longest = max(map(len, rows))
    segments = [segment for feature in features for segment in feature.segments]

    def padded(values: Sequence[Sequence[int]], filler: int) -> torch.Tensor:
        return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in values]).to(device, non_blocking=True)

    return Batch(
        input_ids=padded(rows, padding),
        attention_mask=padded([[1] * len(row) for row in rows], 0),
        token_type_ids=padded(segments, 0) if segments else None,
        targets=task.targets(features, longest).to(device, non_blocking=True),
        features=features,
    )


def in_batches(
    task: Task, features: Sequence[Features], padding: int, device: str | torch.device = "cpu"
) -> Iterator[tuple[list[int], Batch]]:
    """All of them, as many at once as fit where no gradient is kept: (their places, their batch)."""
    for places in scoring_batches([feature.size for feature in features]):
        yield places, collate(task, [features[place] for place in places], padding, device)


def last_states(encoder: Any, batch: Batch, input_ids: torch.Tensor | None = None) -> torch.Tensor:
    """The last hidden states [R, n, d]; `input_ids` replace the batch's own, where rows were renumbered."""
    inputs = {"input_ids": batch.input_ids if input_ids is None else input_ids, "attention_mask": batch.attention_mask}
    if batch.token_type_ids is not None and encoder.config.model_type != "distilbert":  # which has no segments
        inputs["token_type_ids"] = batch.token_type_ids
    return encoder(**inputs).last_hidden_state


def keep(model: Model, task: Task, max_length: int, folder: Path) -> None:
    """Write the run's model: a transformers folder (weights, configuration, tokenizer), its head, how to use both."""
    folder.mkdir(parents=True, exist_ok=True)
    model.encoder.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    save_file({name: value.cpu().contiguous() for name, value in model.head.state_dict().items()}, folder / HEAD)
    recipe = {"kind": task.kind, "task": asdict(task), "max_length": max_length}
    (folder / RECIPE).write_text(json.dumps(recipe), encoding="utf-8")


def read_recipe_of(folder: Path) -> tuple[Task, int]:
    """(task, most tokens) of a kept model. Raises FileNotFoundError where the folder is gone."""
    recipe = json.loads((folder / RECIPE).read_text(encoding="utf-8"))
    return read_task(recipe["kind"], recipe["task"]), recipe["max_length"]


@dataclass(frozen=True)
class Trained:
    """A kept model, read again for predictions. On the CPU, whatever it was trained on."""

    model: Model
    task: Task
    max_length: int

    @property
    def nbytes(self) -> int:
        return nbytes_of(self.model.modules())

    @classmethod
    def read(cls, folder: Path | str) -> Self:
        """Raises FileNotFoundError where the run's folder is gone."""
        task, max_length = read_recipe_of(Path(folder))
        encoder = load_encoder(folder, attention="eager")  # sdpa returns no attentions
        head = task.head(encoder.config.hidden_size, None)
        head.load_state_dict(load_file(Path(folder) / HEAD))
        model = Model(encoder, head, load_tokenizer(folder))
        model.modules().eval().requires_grad_(False)
        return cls(model, task, max_length)

    def predict(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """Each text's probabilities over `task.labels`. Raises UserError for a text over the character limit."""
        return self.answers([Example(clean_text(text, "The sentence"), 0) for text in texts])

    def answers(self, examples: Sequence[Any]) -> list[Any]:
        """The task's answer to each example, as the loop keeps it."""
        features = self.task.features(self.model.tokenizer, examples, self.max_length)
        answers: dict[int, Any] = {}
        for places, batch in in_batches(self.task, features, self.model.tokenizer.pad_token_id or 0):
            with torch.inference_mode():
                logits = self.task.logits(self.model.head, last_states(self.model.encoder, batch), batch)
                answers |= zip(places, self.task.answers(logits, batch), strict=True)
        return [answers[place] for place in range(len(features))]

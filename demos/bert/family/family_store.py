"""The Hub's members of the family, loaded as other models are: pinned, safetensors only, within the memory budget."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from transformers import AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer

from demos.bert.family.attentions import Reading, of_both_stacks, of_one_stack
from demos.bert.family.members import BOTH, MEMBERS, Member
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel, model_folder
from demos.bert.model.once_cache import Recent
from demos.bert.model.pinned_store import PinnedStore
from demos.bert.model.weights import read_weights

MOST_WEIGHTS = 1_200_000_000  # bytes of all together: XLM-R alone, or GPT-2 and RoBERTa
MOST_READ = 40_000_000  # bytes of attention weights; 12 layers of 12 heads and 40 tokens are 0.9 MB


class FamilyStore(PinnedStore):
    """`ModelStore` for members: with their own files and classes, and few of them in memory at one time."""

    def __init__(self, memory: Budget | None = None, members: Mapping[str, Member] = MEMBERS) -> None:
        super().__init__(members, memory)
        self.members = members
        self._models = Recent(MOST_WEIGHTS, lambda loaded: loaded.nbytes, self.memory, "models beside BERT")
        self._readings: Recent[Reading] = Recent(MOST_READ, lambda read: read.nbytes, self.memory, "attention weights")

    def member(self, key: str) -> Member:
        """By its key; the first for an unknown one."""
        return self.members.get(key) or next(iter(self.members.values()))

    def reading(self, member: Member, text: str, target: str, compute: Callable[[], Reading]) -> Reading:
        """The result of `member` for these, kept for all readers. Raises what `compute` raises."""
        return self._readings.make((member.key, text, target), lambda take: compute())

    def read(self, member: Member, text: str, target: str = "") -> Reading:
        """The attention of a member of the Hub, which is loaded now if it is not yet. Raises UserError."""
        loaded = self.get(member.key)
        if member.stack == BOTH:
            return of_both_stacks(member, loaded.model, loaded.tokenizer, text, target)
        return of_one_stack(member, loaded.model, loaded.tokenizer, text)

    def _files(self, spec: ModelSpec, weights: bool = True) -> Path:
        member = self.members[spec.key]
        return model_folder(member, progress=lambda count: self._note(spec.key, count))

    def _opened(self, key: str, folder: Path) -> LoadedModel:
        member = self.members[key]
        kind: Any = AutoModelForSeq2SeqLM if member.stack == BOTH else AutoModel
        model = read_weights(kind, folder)
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        return LoadedModel(member, tokenizer, model.eval().requires_grad_(False))

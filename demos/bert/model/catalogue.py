"""The catalogue: every model the app may load, at a pinned revision, and what each one can do."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from demos.bert.model.fetching import TOKENIZER_FILES, WEIGHTS
from demos.errors import UserError

ARCHITECTURES = {  # those that can be opened, by what config.json calls them
    "bert": "BERT",
    "distilbert": "DistilBERT",
    "electra": "ELECTRA",
    "roberta": "RoBERTa",
    "xlm-roberta": "XLM-RoBERTa",
    "albert": "ALBERT",
    "modernbert": "ModernBERT",
}
BERTS = ("bert", "distilbert")
WORDPIECE = (*BERTS, "electra")
UNIGRAM = ("xlm-roberta", "albert")  # SentencePiece
BUNDLED = "minilm"
PREFERRED = "bert-base-uncased"  # the default wherever its files are already on this machine


FOLDER = "folder-"  # begins the key of a model in a folder; then comes the folder's name


@dataclass(frozen=True)
class ModelSpec:
    """One catalogue entry. `hub_id` and `revision` are empty for the bundled model, and for those trained here."""

    key: str
    title: str
    hub_id: str
    revision: str  # 40 hex digits: a commit, never a branch
    num_layers: int
    num_heads: int
    width: int  # hidden size d
    cased: bool
    segments: bool = True  # takes token_type_ids
    mlm: bool = False  # its files hold a masked-word head
    nsp: bool = False  # its files hold a next-sentence head
    size_mb: int = 0  # the size of the weights on disk
    note: str = ""
    model_type: str = ""  # from its config.json; for the catalogue's first entries, see `architecture`
    max_seq_length: int | None = None  # of a text, that sentence-transformers uses (sentence_bert_config.json)

    @property
    def architecture(self) -> str:
        """A key of `ARCHITECTURES`: how transformers calls it."""
        return self.model_type or ("bert" if self.segments else "distilbert")

    @property
    def is_bert(self) -> bool:
        """Whether its arithmetic is BERT's, as all lessons show it: a BERT or a DistilBERT."""
        return self.architecture in BERTS

    @property
    def tokenizer_file(self) -> str:
        """The file without which it has no tokenizer: WordPiece needs its list alone."""
        return "vocab.txt" if self.architecture in WORDPIECE else "tokenizer.json"

    @property
    def cache(self) -> Path | None:
        """The folder of its files alone; None where they are in the Hub's cache with all others."""
        return None

    @property
    def weights(self) -> tuple[str, ...]:
        """The names of its safetensors files."""
        return (WEIGHTS,)

    @property
    def files(self) -> tuple[str, ...]:
        """The names of all files that it may have."""
        return (*TOKENIZER_FILES, *self.weights)

    @property
    def most_bytes(self) -> Mapping[str, int]:
        """By name, the bytes that files of it may have at most."""
        return {}

    @property
    def summary(self) -> str:
        """One line for the page: what this model is and what it lacks."""
        size = f"{self.num_layers} layers × {self.num_heads} heads, width {self.width}"
        sentences = [f"{size}, {'cased' if self.cased else 'uncased'}."]
        if not self.is_bert:
            kind = ARCHITECTURES.get(self.architecture, self.architecture)
            named = f"{'an' if kind[0] in 'AEX' else 'a'} {kind} model"
            sentences.append(
                f"It is {named}. It can be used in Tokens, Attention, most parts of Embeddings, and Beside BERT."
            )
        if self.note:
            sentences.append(f"{self.note}.")
        parts = {
            "masked-word head": self.mlm,
            "next-sentence head": self.nsp,
            "segment embeddings": self.segments,
        }
        lacks = [name for name, has in parts.items() if not has]
        if self.key == BUNDLED:
            sentences.append(
                "It comes without pre-training heads; the Pre-training lesson adds heads that were "
                "trained for this app."
            )
        elif lacks and self.is_bert:
            sentences.append(f"It has no {', no '.join(lacks)}.")
        return " ".join(sentences)


@dataclass(frozen=True)
class OwnSpec(ModelSpec):
    """A model that a reader has trained here. `key` is its public name, under which caches have it."""

    run: str = ""  # the id under which it is kept: nobody but its reader may have it

    @classmethod
    def of(cls, base: ModelSpec, run: str, key: str, title: str, note: str = "") -> Self:
        """The encoder that `base` became: no pre-training head is kept with it, and the Hub does not have it."""
        own = {"key": key, "title": title, "note": note, "hub_id": "", "revision": "", "mlm": False, "nsp": False}
        return cls(**vars(base) | own, run=run)


@dataclass(frozen=True)
class FolderSpec(ModelSpec):
    """A model in a folder of this machine. `hub_id` is the folder's name: a program beside the folder finds it so."""

    folder: Path = Path()
    is_whole: bool = True  # else the folder that was named has more than the encoder, which `folder` has alone

    @property
    def summary(self) -> str:
        source = "This model is from a folder that was given at the app's start; this project has not tested it."
        return f"{super().summary} {source}"


_ENTRIES = (
    ModelSpec(
        BUNDLED, "MiniLM (bundled)", "", "", 6, 12, 384, cased=False, size_mb=91, max_seq_length=256,
        note="BERT's architecture and vocabulary with other weights: distilled from UniLM v2, a model of BERT base's "
             "size; every second layer kept; then tuned on a billion sentence pairs",
    ),
    ModelSpec(
        PREFERRED, "BERT base, uncased", "google-bert/bert-base-uncased",
        "86b5e0934494bd15c9632b12f734a8a67f723594", 12, 12, 768, cased=False, mlm=True, nsp=True, size_mb=440,
    ),
    ModelSpec(
        "bert-base-cased", "BERT base, cased", "google-bert/bert-base-cased",
        "cd5ef92a9fb2f889e972770a36d4ed042daf221e", 12, 12, 768, cased=True, mlm=True, nsp=True, size_mb=436,
    ),
    ModelSpec(
        "bert-large-uncased", "BERT large, uncased", "google-bert/bert-large-uncased",
        "6da4b6a26a1877e173fca3225479512db81a5e5b", 24, 16, 1024, cased=False, mlm=True, nsp=True, size_mb=1345,
    ),
    ModelSpec(
        "bert-base-multilingual-cased", "BERT base, 104 languages", "google-bert/bert-base-multilingual-cased",
        "3f076fdb1ab68d5b2880cb87a0886f315b8146f8", 12, 12, 768, cased=True, mlm=True, nsp=True, size_mb=714,
    ),
    ModelSpec(
        "distilbert-base-uncased", "DistilBERT, uncased", "distilbert/distilbert-base-uncased",
        "12040accade4e8a0f71eabdb258fecc2e7e948be", 6, 12, 768, cased=False, segments=False, mlm=True, size_mb=268,
    ),
    ModelSpec(
        "bert-tiny", "BERT tiny, uncased", "google/bert_uncased_L-2_H-128_A-2",
        "30b0a37ccaaa32f332884b96992754e246e48c5f", 2, 2, 128, cased=False, mlm=True, nsp=True, size_mb=18,
    ),
    ModelSpec(
        "roberta-base", "RoBERTa base", "FacebookAI/roberta-base", "e2da8e2f811d1448a5b465c236feacd80ffbac7b",
        12, 12, 768, cased=True, segments=False, size_mb=499, model_type="roberta",
    ),
    ModelSpec(
        "xlm-roberta-base", "XLM-R base, 100 languages", "FacebookAI/xlm-roberta-base",
        "e73636d4f797dec63c3081bb6ed5c7b0bb3f2089", 12, 12, 768, cased=True, segments=False, size_mb=1_116,
        model_type="xlm-roberta",
    ),
    ModelSpec(
        "albert-base-v2", "ALBERT base v2", "albert/albert-base-v2", "8e2f239c5f8a2c0f253781ca60135db913e5c80c",
        12, 12, 768, cased=False, size_mb=47, model_type="albert",
    ),
    ModelSpec(
        "modernbert-base", "ModernBERT base", "answerdotai/ModernBERT-base", "8949b909ec900327062f0ebf497f51aef5e6f0c8",
        22, 12, 768, cased=True, segments=False, size_mb=599, model_type="modernbert",
        note="Layers 1, 4, 7, 10, 13, 16, 19 and 22 are global: each token attends to all tokens. The other layers are "
             "local: each token attends to itself and to at most 64 tokens on each side",
    ),
)  # fmt: skip

CATALOGUE: Mapping[str, ModelSpec] = {spec.key: spec for spec in _ENTRIES}


def check_bert(spec: ModelSpec) -> None:
    """Raises UserError, one sentence, for a model whose arithmetic is not BERT's."""
    if not spec.is_bert:
        raise UserError(
            f"{spec.title} can't be used in this part, which works only with BERT and DistilBERT models. "
            "Tokens, Attention, most parts of Embeddings, and Beside BERT take other encoders too."
        )


def extend_catalogue(path: Path | str) -> dict[str, ModelSpec]:
    """The catalogue with the entries of a JSON file: a list of objects with ModelSpec's fields.

    Raises UserError, naming the entry, where one lacks a field, is not pinned to a commit or reuses a key.
    """
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"The catalogue file {path} can't be read: {error}.") from error
    if not isinstance(rows, list):
        raise UserError(f"The catalogue file {path} must hold a list of models.")
    models = dict(CATALOGUE)
    for number, row in enumerate(rows, start=1):
        try:
            spec = ModelSpec(**row)
        except TypeError as error:
            raise UserError(f"Model {number} of the catalogue file {path} does not fit: {error}.") from error
        kinds = {"key": str, "title": str, "num_layers": int, "num_heads": int, "width": int, "cased": bool}
        wrong = next((name for name, kind in kinds.items() if type(getattr(spec, name)) is not kind), "")
        if wrong:
            raise UserError(f"Model {number} of the catalogue file {path} has no fitting {wrong}.")
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", str(spec.hub_id)):
            raise UserError(f"Model {spec.key!r} of {path} needs a hub_id of the form owner/name.")
        if not re.fullmatch(r"[0-9a-f]{40}", str(spec.revision)):
            raise UserError(f"Model {spec.key!r} of {path} needs a revision of 40 hex digits (a commit).")
        if spec.architecture not in ARCHITECTURES:
            raise UserError(f"Model {spec.key!r} of {path} needs a model_type of these: {', '.join(ARCHITECTURES)}.")
        if spec.key in models:
            raise UserError(f"The catalogue already has a model {spec.key!r}.")
        models[spec.key] = spec
    return models

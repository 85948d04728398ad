"""The models whose attention is shown side by side: three that are always there, and some of the Hub's, pinned.

Each revision is one whose repository holds model.safetensors; a file of another format is never loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from demos.bert.model.by_name.typed_name import read_name
from demos.bert.model.catalogue import BUNDLED, ModelSpec
from demos.bert.model.fetching import WEIGHTS
from demos.bert.translation.transformer import HEADS, LAYERS, WIDTH
from demos.bert.translation.transformer_places import CROSS, DECODER, ENCODER
from demos.errors import UserError

BOTH = "encoder-decoder"
KINDS = {ENCODER: (ENCODER,), DECODER: (DECODER,), BOTH: (ENCODER, DECODER, CROSS)}  # which attention a stack has
TRANSLATOR, OUR_DECODER = "translator", "decoder"
AGREEMENT = "The agreement on the European Economic Area was signed in August 1992."  # Bahdanau et al. 2015, figure 3
SETTINGS = ("config.json", "generation_config.json", "tokenizer_config.json")
ONE_FILE = ("tokenizer.json", *SETTINGS, WEIGHTS)  # most keep their whole tokenizer in one file
MARIAN_FILES = ("source.spm", "target.spm", "vocab.json", *SETTINGS, WEIGHTS)


@dataclass(frozen=True)
class Member(ModelSpec):
    """One of them; `hub_id` is empty for those that need no Hub."""

    stack: str = ENCODER  # ENCODER, DECODER or BOTH
    files: tuple[str, ...] = ONE_FILE
    prefix: str = ""  # the beginning of its input: for T5, the name of the task
    example: str = AGREEMENT

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention that it has."""
        return KINDS[self.stack]

    @property
    def label(self) -> str:
        """Its title in the menu, and whether it must be fetched."""
        return f"{self.title} (from the Hub, {self.size_mb:,} MB)" if self.hub_id else self.title


_MEMBERS = (
    Member(TRANSLATOR, "Our translator, English to French", "", "", LAYERS, HEADS, WIDTH, cased=False, stack=BOTH),
    Member(OUR_DECODER, "Our decoder", "", "", 6, 12, 384, cased=False, stack=DECODER),
    Member(BUNDLED, "MiniLM, the bundled BERT", "", "", 6, 12, 384, cased=False, stack=ENCODER),
    Member(
        "gpt2", "GPT-2", "openai-community/gpt2", "607a30d783dfa663caf39e06633721c8d4cfcd7e", 12, 12, 768,
        cased=True, size_mb=548, stack=DECODER, model_type="gpt2",
    ),
    Member(
        "roberta-base", "RoBERTa base", "FacebookAI/roberta-base", "e2da8e2f811d1448a5b465c236feacd80ffbac7b",
        12, 12, 768, cased=True, size_mb=499, stack=ENCODER, model_type="roberta",
    ),
    Member(
        "albert-base-v2", "ALBERT base v2", "albert/albert-base-v2", "8e2f239c5f8a2c0f253781ca60135db913e5c80c",
        12, 12, 768, cased=False, size_mb=47, stack=ENCODER, model_type="albert",
    ),
    Member(
        "xlm-roberta-base", "XLM-R base, 100 languages", "FacebookAI/xlm-roberta-base",
        "e73636d4f797dec63c3081bb6ed5c7b0bb3f2089", 12, 12, 768, cased=True, size_mb=1_116, stack=ENCODER,
        model_type="xlm-roberta",
    ),
    Member(
        "modernbert-base", "ModernBERT base", "answerdotai/ModernBERT-base", "8949b909ec900327062f0ebf497f51aef5e6f0c8",
        22, 12, 768, cased=True, size_mb=599, stack=ENCODER, model_type="modernbert",
    ),
    Member(
        "t5-small", "T5 small", "google-t5/t5-small", "df1b051c49625cf57a3d0d8d3863ed4d13564fe4", 6, 8, 512,
        cased=True, size_mb=242, stack=BOTH, model_type="t5", prefix="translate English to French: ",
    ),
    Member(
        "opus-mt-fr-en", "OPUS-MT, French to English", "Helsinki-NLP/opus-mt-fr-en",
        "c4aed37b318c763fd177aa449b44e3b783cc6c02", 6, 8, 512, cased=True, size_mb=301, stack=BOTH,
        model_type="marian", files=MARIAN_FILES,
        example="L'accord sur la zone économique européenne a été signé en août 1992.",
    ),
)  # fmt: skip

MEMBERS: Mapping[str, Member] = {member.key: member for member in _MEMBERS}


def member_named(requested: object) -> Member | None:
    """The one whose repository on the Hub is called so, at whatever revision."""
    try:
        name, _ = read_name(requested)
    except UserError:
        return None
    return next((member for member in MEMBERS.values() if member.hub_id == name), None)


def member_like(model_type: str) -> Member | None:
    """The first of the Hub's of this architecture, as config.json names it."""
    return next((member for member in MEMBERS.values() if member.hub_id and member.model_type == model_type), None)

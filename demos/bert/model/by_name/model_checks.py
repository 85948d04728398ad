"""Whether a model of the Hub fits this app: its files' sizes, its configuration, its tensors and its tokenizer.

All of it is read before any weight is fetched. Each check raises UserError, whose sentence ends with the reason.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf, prod
from pathlib import Path
from typing import Any, Self

import torch
from huggingface_hub.utils import SafetensorsFileMetadata, TensorInfo
from transformers import (
    AlbertConfig,
    AutoModel,
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    ModernBertConfig,
    PreTrainedConfig,
    RobertaConfig,
    XLMRobertaConfig,
)

from demos.bert.encoder.norm_and_feed_forward import ACTIVATIONS
from demos.bert.model.catalogue import ARCHITECTURES, BERTS, UNIGRAM, WORDPIECE, ModelSpec
from demos.bert.model.encoding import MAX_TOKENS
from demos.bert.model.fetching import TOKENIZER_FILES, WEIGHTS
from demos.bert.model.local_layers import GLOBAL, LOCAL, kinds_note, reaches
from demos.bert.model.weights import INDEX, files_in
from demos.bert.tokens.wordpiece import read_rules
from demos.errors import UserError

MOST_FILE = 1_500_000_000  # bytes of the weights, in one file or in several: BERT large has 1.3 GB
MOST_SHARDS = 16  # files
SHARD = re.compile(r"\w[\w.-]*\.safetensors", re.ASCII)  # a plain name: no folder, nothing that a pattern means
FROM_PADDING = ("roberta", "xlm-roberta")  # no segments; positions are counted from behind the padding token's id
ACTIVATION = ("hidden_act", "hidden_activation", "activation")  # its name in BERT's, ModernBERT's, DistilBERT's files
MOST_LAYERS = 1_000  # of a configuration that is read at all
PRECISIONS = ("F32", "F16", "BF16")  # all are read as float32
MOST_TEXT = 16_000_000  # bytes of a tokenizer's file: the one for 104 languages has 2 MB
MOST_CONFIG = 1_000_000
CONFIGS: dict[str, type[PreTrainedConfig]] = {
    "bert": BertConfig,
    "distilbert": DistilBertConfig,
    "electra": ElectraConfig,
    "roberta": RobertaConfig,
    "xlm-roberta": XLMRobertaConfig,
    "albert": AlbertConfig,
    "modernbert": ModernBertConfig,
}
# The values that a configuration may have, and the defaults: any other value is another computation.
USUAL = {
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
    "is_encoder_decoder": False,
    "quantization_config": None,
    "pruned_heads": {},
    "return_dict": True,
    "use_return_dict": True,
    "torchscript": False,
    "chunk_size_feed_forward": 0,
    "sinusoidal_pos_embds": False,
    "num_hidden_groups": 1,  # of ALBERT: the number of different layers equals the number of groups
    "inner_group_num": 1,
    "head_dim": None,  # of ModernBERT: the width divided by the number of heads
}
WORD_PIECE, BYTE_PAIRS, PIECES = "WordPiece", "BPE", "Unigram"
TOKENIZERS = {WORD_PIECE: WORDPIECE, BYTE_PAIRS: ("roberta", "modernbert"), PIECES: UNIGRAM}
TOKENIZER_TITLES = {
    WORD_PIECE: "a BERT tokenizer",
    BYTE_PAIRS: "byte-pair encoding",
    PIECES: "SentencePiece's unigram model",
}
KNOWN_PATTERNS = frozenset({" {2,}"})  # a stranger's regular expression could take hours
SPECIAL = ("cls_token", "sep_token", "pad_token", "mask_token", "unk_token")
FORMER = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}  # in the oldest files


@dataclass(frozen=True)
class Limits:
    """The largest model that the page's controls and the server's memory are made for."""

    num_layers: int
    num_heads: int
    width: int
    memory: float  # bytes

    @classmethod
    def of(cls, catalogue: Mapping[str, ModelSpec], memory: float) -> Self:
        """The sizes of the catalogue's largest models, which are the ends of the page's controls."""
        layers, heads, width = (
            max(getattr(spec, name) for spec in catalogue.values()) for name in ("num_layers", "num_heads", "width")
        )
        return cls(layers, heads, width, memory)


class OtherArchitectureError(UserError):
    """A model whose type is not in CONFIGS."""

    def __init__(self, sentence: UserError, model_type: str) -> None:
        super().__init__(str(sentence))
        self.model_type = model_type


def refused(name: str, reason: str) -> UserError:
    """The one sentence for every reason."""
    return UserError(f"{name} can't be opened here: {reason}.")


@dataclass(frozen=True)
class Checked:
    """A model's files, as read; `weights` are the files of its weights, and `nbytes` the bytes of each."""

    spec: ModelSpec  # its key and title are its name
    weights: tuple[str, ...]
    nbytes: tuple[int, ...]
    in_several: bool


def check_model(
    name: str,
    folder: Path,
    sizes: Mapping[str, int | None],
    header: Callable[[str], SafetensorsFileMetadata],
    limits: Limits,
    read_tokenizer: Callable[[Path], Any],
) -> Checked:
    """All the checks of a model, whose files but for the weights are in `folder`. `header` reads a weights' file's."""
    config = check_config(name, read_json(folder / "config.json"), limits)
    if config.model_type not in WORDPIECE and "tokenizer.json" not in sizes:
        raise refused(name, "it has no tokenizer.json, which a model of its architecture needs here")
    if (folder / "tokenizer_config.json").is_file():
        check_tokenizer_config(name, read_json(folder / "tokenizer_config.json"))
    in_several = WEIGHTS not in sizes
    index = read_json(folder / INDEX) if in_several else None
    weights = check_index(name, index, sizes) if in_several else (WEIGHTS,)
    nbytes = check_weights(name, weights, sizes)
    mlm, nsp = check_tensors(name, config, merged(name, index, {file: header(file) for file in weights}), limits)
    try:
        tokenizer = read_tokenizer(folder)
    except Exception as error:  # files of a stranger, read by a library: whatever it raises
        raise refused(name, "its tokenizer can't be read") from error
    spec = ModelSpec(
        key=name,
        title=name,
        hub_id=name,
        revision="",
        num_layers=config.num_hidden_layers,
        num_heads=config.num_attention_heads,
        width=config.hidden_size,
        cased=check_tokenizer(name, tokenizer, config.vocab_size, config.model_type),
        segments=config.model_type not in FROM_PADDING and getattr(config, "type_vocab_size", 0) > 1,
        model_type=config.model_type,
        mlm=mlm,
        nsp=nsp,
        size_mb=round(sum(nbytes) / 1e6),
        note=kinds_note(reaches(config)),
    )
    return Checked(spec, weights, nbytes, in_several)


def read_json(file: Path) -> Any:
    """A file's content, parsed as JSON; None where it can't be read."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError):
        return None


def check_files(name: str, sizes: Mapping[str, int | None]) -> tuple[str, ...]:
    """Its files but for the weights; the index among them where those are several.

    `sizes` are the repository's files and their bytes.
    """
    if WEIGHTS not in sizes and INDEX not in sizes:
        raise refused(name, f"it has no {WEIGHTS} and no {INDEX}; other formats cannot be opened")
    if "config.json" not in sizes:
        raise refused(name, "it has no config.json, which every model needs here")
    if not {"vocab.txt", "tokenizer.json"} & sizes.keys():
        raise refused(name, "it has neither vocab.txt nor tokenizer.json, and every model needs one of them here")
    index = () if WEIGHTS in sizes else (INDEX,)
    limits = dict.fromkeys(TOKENIZER_FILES, MOST_TEXT) | {"config.json": MOST_CONFIG} | dict.fromkeys(index, MOST_TEXT)
    for file, most in limits.items():
        if file in sizes:
            _check_size(name, file, sizes[file], most)
    return (*TOKENIZER_FILES, *index)


def check_index(name: str, index: Any, sizes: Mapping[str, int | None]) -> tuple[str, ...]:
    """The names of the weights' files in an index, which was read from JSON; `sizes` as above."""
    try:
        files = files_in(index)
    except ValueError as error:
        raise refused(name, f"its {INDEX} does not say which tensor lies in which file") from error
    if not isinstance(index.get("metadata"), dict):  # transformers needs it
        raise refused(name, f"its {INDEX} has no metadata")
    if len(files) > MOST_SHARDS:
        raise refused(name, f"its weights lie in {len(files)} files, and the limit is {MOST_SHARDS}")
    for file in files:
        if not SHARD.fullmatch(file) or file not in sizes:
            raise refused(name, f"its {INDEX} names {file[:40]!r}, which is no safetensors file beside it")
    return tuple(files)


def check_weights(name: str, files: tuple[str, ...], sizes: Mapping[str, int | None]) -> tuple[int, ...]:
    """The bytes of the weights' files."""
    for file in files:
        _check_size(name, file, sizes[file], MOST_FILE)
    nbytes = tuple(sizes[file] or 0 for file in files)
    if sum(nbytes) > MOST_FILE:
        stored = f"{sum(nbytes) / 1e6:,.0f} MB in {len(files)} files"
        raise refused(name, f"its weights are {stored}, and the limit is {MOST_FILE / 1e6:,.0f} MB")
    return nbytes


def _check_size(name: str, file: str, size: int | None, most: int) -> None:
    if size is None or size > most:
        shown = "of unknown size" if size is None else f"{size / 1e6:,.0f} MB"
        raise refused(name, f"its {file} is {shown}, and the limit is {most / 1e6:,.0f} MB")


def merged(name: str, index: Any, headers: Mapping[str, SafetensorsFileMetadata]) -> dict[str, TensorInfo]:
    """The tensors of all the weights' files, of which `headers` were read; with no `index`, of the one.

    Each tensor must lie where the index says, and nowhere else: else it would depend on the order of reading.
    """
    tensors: dict[str, TensorInfo] = {}
    for header in headers.values():
        if twice := tensors.keys() & header.tensors.keys():
            raise refused(name, f"{min(twice)[:60]} lies in two of its weights' files")
        tensors |= header.tensors
    for key, file in index["weight_map"].items() if index else ():
        if key not in headers[file].tensors:
            raise refused(name, f"{key[:60]} is missing from {file}, in which its {INDEX} says it lies")
    return tensors


def check_config(name: str, config: Any, limits: Limits) -> Any:
    """`config` is config.json as it was read; the configuration as transformers has it."""
    if not isinstance(config, dict):
        raise refused(name, "its config.json is no JSON object")
    if "auto_map" in config:
        raise refused(name, "it needs its own program code, and such code is never run here")
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in CONFIGS:
        reason = (
            f"its architecture is {str(kind)[:40]!r}; only these can be opened: {', '.join(ARCHITECTURES.values())}"
        )
        raise OtherArchitectureError(refused(name, reason), str(kind))
    described = f"{'an' if ARCHITECTURES[kind][0] in 'AEX' else 'a'} {ARCHITECTURES[kind]}"
    unusual = next((key for key, usual in USUAL.items() if config.get(key) not in (None, usual)), "")
    if unusual:
        raise refused(
            name, f"its config.json says {unusual} = {str(config[unusual])[:40]!r}, which is not supported here"
        )
    try:
        if config.get("num_hidden_layers", 0) > MOST_LAYERS:  # ModernBERT's configuration lists them all
            raise ValueError("too many layers")
        known = CONFIGS[kind].from_dict(config)
        sizes = known.num_hidden_layers, known.num_attention_heads, known.hidden_size, known.vocab_size
        fit = all(type(size) is int and size > 0 for size in sizes) and known.hidden_size % sizes[1] == 0
        fit = fit and (kind not in FROM_PADDING or (type(known.pad_token_id) is int and known.pad_token_id >= 0))
        fit = fit and (kind != "modernbert" or _is_usual(known))
        activation = next(getattr(known, name) for name in ACTIVATION if hasattr(known, name))
    except Exception as error:  # transformers checks the fields' types, with errors of other classes
        raise refused(name, f"its config.json does not describe {described}") from error
    if not fit:
        raise refused(name, f"its config.json does not describe {described}")
    if activation not in ACTIVATIONS:
        raise refused(name, f"its activation function is {str(activation)[:40]!r}, which this app does not support")
    dimensions = f"{sizes[0]} layers, {sizes[1]} heads and width {sizes[2]}"
    if sizes[0] > limits.num_layers or sizes[1] > limits.num_heads or sizes[2] > limits.width:
        most = f"{limits.num_layers}, {limits.num_heads} and {limits.width}"
        raise refused(name, f"it has {dimensions}; the page can show at most {most}")
    most_tokens = known.max_position_embeddings - (known.pad_token_id + 1 if kind in FROM_PADDING else 0)
    if most_tokens < MAX_TOKENS:
        reads = f"its inputs have at most {most_tokens} tokens"
        raise refused(name, f"{reads}, and this app needs {MAX_TOKENS}")
    return known


def _is_usual(config: Any) -> bool:
    """Whether each layer of a ModernBERT is global or local, and its positions rotate queries and keys plainly."""
    ropes = [config.rope_parameters[kind] for kind in (GLOBAL, LOCAL)]
    return (
        len(config.layer_types) == config.num_hidden_layers
        and {*config.layer_types} <= {GLOBAL, LOCAL}
        and config.local_attention > 1
        and (config.pad_token_id is None or 0 <= config.pad_token_id < config.vocab_size)
        and config.hidden_size // config.num_attention_heads % 2 == 0
        and all(rope["rope_type"] == "default" and 1 < rope["rope_theta"] < inf for rope in ropes)
    )


def check_tensors(name: str, config: Any, tensors: Mapping[str, TensorInfo], limits: Limits) -> tuple[bool, bool]:
    """Whether the weights have a masked-word and a next-sentence head.

    Every parameter of the encoder must be among `tensors`, in its shape and as a float of 32 or 16 bits; else
    transformers would make it up. The memory is that of float32, as which all are read.
    """
    if config.vocab_size * config.hidden_size * 4 > MOST_FILE or config.max_position_embeddings > 2**16:
        raise refused(name, "its config.json and its weights do not fit together")
    with torch.device("meta"):  # shapes alone
        model = AutoModel.from_config(config)
    wanted = {key: tuple(value.shape) for key, value in model.named_parameters()}
    prefix = f"{model.base_model_prefix}."
    nbytes = 0
    for key, shape in wanted.items():
        nbytes += 4 * prod(shape)
        former = next((key.removesuffix(end) + old for end, old in FORMER.items() if key.endswith(end)), key)
        spellings = (key, prefix + key, former, prefix + former)
        tensor = next((tensors[spelling] for spelling in spellings if spelling in tensors), None)
        if tensor is None and key.startswith("pooler."):  # nothing here uses it without the next-sentence head
            continue
        if tensor is None or tuple(tensor.shape) != shape or tensor.dtype not in PRECISIONS:
            reason = f"{key} is missing from its weights, has another shape, or is not float32, float16 or bfloat16"
            raise refused(name, reason)
    if nbytes > limits.memory:
        needs = f"it needs {nbytes / 1e6:,.0f} MB of memory"
        raise refused(name, f"{needs}; this app may use {limits.memory / 1e6:,.0f} MB in all")
    if config.model_type not in BERTS:  # their heads are other ones
        return False, False
    mlm = {"cls.predictions.transform.dense.weight", "vocab_transform.weight"} & tensors.keys()
    nsp = {"cls.seq_relationship.weight", f"{prefix}pooler.dense.weight"} <= tensors.keys()
    return bool(mlm), nsp


def check_tokenizer_config(name: str, config: Any) -> None:
    """`config` is tokenizer_config.json as it was read."""
    if not isinstance(config, dict) or "auto_map" in config:
        raise refused(name, "its tokenizer needs its own program code, and such code is never run here")


def check_tokenizer(name: str, tokenizer: Any, vocabulary: int, architecture: str = "bert") -> bool:
    """Whether the tokenizer keeps capitals; `vocabulary` is how many embeddings the model has."""
    kind = next(kind for kind, fits in TOKENIZERS.items() if architecture in fits)
    try:
        algorithm = type(tokenizer.backend_tokenizer.model).__name__
        fit = algorithm == kind if kind != WORD_PIECE else bool(read_rules(tokenizer))
    except (UserError, AttributeError) as error:
        raise refused(name, f"its tokenizer is not {TOKENIZER_TITLES[kind]}") from error
    if not fit:
        raise refused(name, f"its tokenizer is not {TOKENIZER_TITLES[kind]}")
    backend = tokenizer.backend_tokenizer
    steps = [json.loads(step.__getstate__()) for step in (backend.normalizer, backend.pre_tokenizer) if step]
    if not set(_patterns(steps)) <= KNOWN_PATTERNS:
        raise refused(name, "its tokenizer splits texts by its own pattern")
    if any(getattr(tokenizer, token) is None for token in SPECIAL):
        raise refused(name, "its tokenizer lacks one of [CLS], [SEP], [PAD], [MASK] and [UNK]")
    if max(tokenizer.get_vocab().values()) >= vocabulary:
        raise refused(name, "its tokenizer has more word pieces than the model has vectors")
    ids = tokenizer("A")["input_ids"]
    if (ids[0], ids[-1], len(ids) > 2) != (tokenizer.cls_token_id, tokenizer.sep_token_id, True):
        raise refused(name, "its tokenizer does not put [CLS] before and [SEP] after a sentence")
    normalizer = tokenizer.backend_tokenizer.normalizer
    return normalizer is None or "A" in normalizer.normalize_str("A")


def _patterns(steps: Any) -> Iterator[str]:
    """The regular expressions in a tokenizer's settings."""
    if isinstance(steps, dict):
        yield from (str(value) for key, value in steps.items() if key == "Regex")
    for inner in steps.values() if isinstance(steps, dict) else steps if isinstance(steps, list) else ():
        yield from _patterns(inner)

"""Tiny models of the family with random weights and tokenizers of their own, written to folders as the Hub has them."""

import json
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from tokenizers import AddedToken, ByteLevelBPETokenizer, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import (
    AlbertConfig,
    AlbertModel,
    AlbertTokenizer,
    GPT2Config,
    GPT2Model,
    GPT2Tokenizer,
    MarianConfig,
    MarianMTModel,
    MarianTokenizer,
    ModernBertConfig,
    ModernBertModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
    RobertaTokenizer,
    T5Config,
    T5ForConditionalGeneration,
    T5Tokenizer,
    XLMRobertaConfig,
    XLMRobertaModel,
    XLMRobertaTokenizer,
)

from demos.bert.family.members import BOTH, MARIAN_FILES, ONE_FILE, Member
from demos.bert.translation.transformer_places import DECODER, ENCODER

WORDS = "translate English to French: The agreement was signed in August 1992. un café été"
TEXTS = [WORDS, *WORDS.split()] * 9

SMALL: dict[str, Any] = {
    "num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 24,
    "max_position_embeddings": 64,
}  # fmt: skip
KINDS = {
    "gpt2": DECODER, "roberta": ENCODER, "albert": ENCODER, "xlm-roberta": ENCODER, "t5": BOTH, "marian": BOTH,
    "modernbert": ENCODER,
}  # fmt: skip


def member(kind: str) -> Member:
    """Its entry: of a repository of ours, at a revision of forty a."""
    files = MARIAN_FILES if kind == "marian" else ONE_FILE
    prefix = "translate English to French: " if kind == "t5" else ""
    return Member(
        kind, f"Tiny {kind}", f"someone/{kind}", "a" * 40, 2, 2, 16, cased=True, stack=KINDS[kind], model_type=kind,
        files=files, prefix=prefix, size_mb=1,
    )  # fmt: skip


def write(kind: str, folder: Path, **sizes: int) -> tuple[Any, Any]:
    """(the model, its tokenizer), both also in `folder`, the weights as safetensors; `sizes` replace those of SMALL."""
    folder.mkdir()
    tokenizer = _tokenizer(kind, folder)
    ids: dict[str, Any] = {
        name: getattr(tokenizer, name) for name in ("pad_token_id", "bos_token_id", "eos_token_id")
    } | {"vocab_size": len(tokenizer)}
    torch.manual_seed(3)
    model: Any = {
        "gpt2": lambda: GPT2Model(GPT2Config(**ids, n_layer=2, n_head=2, n_embd=16, n_positions=256)),
        "roberta": lambda: RobertaModel(RobertaConfig(**ids, **SMALL | sizes)),
        "xlm-roberta": lambda: XLMRobertaModel(XLMRobertaConfig(**ids, **SMALL | sizes)),
        "albert": lambda: AlbertModel(AlbertConfig(**ids, **SMALL | sizes, embedding_size=8)),
        "modernbert": lambda: ModernBertModel(
            ModernBertConfig(**ids, cls_token_id=tokenizer.cls_token_id, sep_token_id=tokenizer.sep_token_id,
                             local_attention=8, global_attn_every_n_layers=2, initializer_range=0.2, **SMALL | sizes)
        ),
        "t5": lambda: T5ForConditionalGeneration(
            T5Config(**ids, decoder_start_token_id=ids["pad_token_id"], num_layers=2, num_heads=2, d_model=16, d_kv=8,
                     d_ff=24)
        ),
        "marian": lambda: MarianMTModel(
            MarianConfig(**ids, decoder_start_token_id=ids["pad_token_id"], forced_eos_token_id=None,
                         encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
                         d_model=16, encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=64)
        ),
    }[kind]()  # fmt: skip
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model, tokenizer


def _tokenizer(kind: str, folder: Path) -> Any:
    if kind in {"gpt2", "roberta"}:
        bpe = ByteLevelBPETokenizer()
        bpe.train_from_iterator(TEXTS, vocab_size=340, show_progress=False)
        model = json.loads(bpe.to_str())["model"]
        first, last = ((), ("<|endoftext|>",)) if kind == "gpt2" else (("<s>", "<pad>", "</s>", "<unk>"), ("<mask>",))
        pieces = sorted(model["vocab"], key=model["vocab"].get)
        vocab = {name: number for number, name in enumerate((*first, *pieces, *last))}
        merges = [tuple(pair) for pair in model["merges"]]
        return (GPT2Tokenizer if kind == "gpt2" else RobertaTokenizer)(vocab=vocab, merges=merges)
    if kind == "marian":
        return _marian(folder)
    if kind == "modernbert":
        return _modern()
    special_of = {"t5": ["<pad>", "</s>", "<unk>"], "albert": ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]}
    special_tokens = special_of.get(kind, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    words = [f"▁{word.strip('.:')}" for word in WORDS.split()]
    letters = sorted({*WORDS, "▁"} - {" "})
    scored = [
        (name, score)
        for names, score in ((special_tokens, 0.0), (words, -2.0), (letters, -9.0))
        for name in dict.fromkeys(names)
    ]
    kinds: dict[str, Any] = {"t5": T5Tokenizer, "albert": AlbertTokenizer, "xlm-roberta": XLMRobertaTokenizer}
    return kinds[kind](vocab=scored)


def _modern() -> Any:
    """Pieces of bytes and BERT's own special tokens, in the form of the published ModernBERT's tokenizer."""
    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(TEXTS, vocab_size=340, show_progress=False)
    model = json.loads(bpe.to_str())["model"]
    made: Any = Tokenizer(models.BPE(vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]]))
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = {"unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "mask": "[MASK]"}
    made.add_special_tokens([AddedToken(name, lstrip=role == "mask", special=True) for role, name in special.items()])
    made.post_processor = TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(name, made.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )  # fmt: skip
    named = {f"{role}_token": name for role, name in special.items()}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_input_names=["input_ids", "attention_mask"], **named)


def _marian(folder: Path) -> Any:
    """Two SentencePiece models over one vocabulary."""
    text = folder / "text.txt"
    text.write_text("\n".join(TEXTS), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "source"), vocab_size=60, hard_vocab_limit=False, minloglevel=2
    )
    spm = (folder / "source.model").read_bytes()
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(spm)
    reader: Any = sentencepiece.SentencePieceProcessor(model_proto=spm)
    names = [reader.IdToPiece(number) for number in range(reader.GetPieceSize())]
    names = ["</s>", "<unk>", *(name for name in names if name not in {"</s>", "<unk>", "<s>"}), "<pad>"]
    (folder / "vocab.json").write_text(
        json.dumps({name: number for number, name in enumerate(names)}), encoding="utf-8"
    )
    return MarianTokenizer(*(str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")))

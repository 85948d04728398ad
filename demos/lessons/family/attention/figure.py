"""The sentences on the lines: the mask in numbers, and the largest weight of each output token."""

import numpy as np

from demos.bert.family.attentions import Attention, Reading
from demos.bert.family.members import BOTH, OUR_DECODER, TRANSLATOR, Member
from demos.bert.model.local_layers import kind_said
from demos.bert.translation.transformer_places import CROSS, DECODER, ENCODER
from demos.counting import from_zero
from demos.figures.program import model_lines
from demos.files import read_filled
from demos.lessons.family.program_decoder import DECODER as LOADS_DECODER
from demos.templates import templates

TEXT = templates(__file__)
READ = """
layer = {layer}  # {remark}
means = attention[layer][0].mean(0)  # the mean of its heads: [m, n]
for row, weights in zip(rows, means):
    print(row, columns[weights.argmax()], round(weights.max().item(), 4))
"""
ONE = READ + "head_view(attention, rows)  # draws in a notebook\n"
THREE = (
    READ
    + """head_view(encoder_attention=encoder, decoder_attention=decoder, cross_attention=cross,  # draws in a notebook
          encoder_tokens=source_tokens, decoder_tokens=target_tokens)
"""
)
CHOSEN = {
    ENCODER: "attention, rows, columns = encoder, source_tokens, source_tokens",
    DECODER: "attention, rows, columns = decoder, target_tokens, target_tokens",
    CROSS: "attention, rows, columns = cross, target_tokens, source_tokens",
}


def said_html(reading: Reading, attention: Attention, layer: int) -> str:
    """The facts of this kind of attention, in words; of `layer`, from 0, what each row reads most."""
    rows, columns = attention.rows, attention.columns
    if attention.kind == CROSS:
        reads = [(columns.names[column], share) for column, share in attention.most_read(layer)]
        return TEXT.cross(list(zip(reading.writes, reads, strict=True)), layer, reading.chosen)
    first, equal = float(attention.weights[..., 0].mean()), equal_on_first(attention)
    kind = kind_said(attention.reaches, layer, len(rows))
    return TEXT.self_attention(attention.kind, kind, len(rows), rows.names[0], attention.later, first, equal)


def equal_on_first(attention: Attention) -> float:
    """The share of the first token in the weights of self-attention if all tokens that are attended to had the same."""
    n = len(attention.rows)
    places = np.arange(n)
    shares = []
    for reach in attention.reaches or (None,):
        near = n if reach is None else reach
        last = places if attention.kind == DECODER else np.minimum(places + near, n - 1)
        seen = last - np.maximum(places - near, 0) + 1
        shares.append(np.where(places <= near, 1 / seen, 0).mean())
    return float(np.mean(shares))


def attention_code(member: Member, kind: str, layer: int, source: str, reading: Reading) -> str:
    """Prints what each row of this kind of attention reads most in `layer`, from 0; bertviz draws all of it."""
    ends: dict[str, int | str] = {"layer": layer, "remark": from_zero(layer=layer)}
    if member.key == TRANSLATOR:
        texts = {"SOURCE": reading.kinds[ENCODER].rows.names, "TARGET": reading.kinds[DECODER].rows.names}
        words = {name: repr(" ".join(tokens)) for name, tokens in texts.items()}
        program = read_filled(__file__, "translator.txt", words)
        return f"{program}{CHOSEN[kind]}{THREE.format(**ends)}"
    if member.key == OUR_DECODER:
        return f"""{LOADS_DECODER}
from bertviz import head_view

ids = tokenizer({source!r}, return_tensors="pt")["input_ids"][:, :-1]  # without [SEP]: the text goes on
with torch.inference_mode():
    attention = model(ids, output_attentions=True, use_cache=False).attentions  # L times [1, A, n, n]
rows = columns = tokenizer.convert_ids_to_tokens(ids[0])
{ONE.format(**ends)}"""
    return _both(member, kind, source, reading, ends) if member.stack == BOTH else _single_stack(member, source, ends)


def _begin(member: Member, kind: str) -> str:
    needed, source = model_lines(member)
    return f"""{needed}import torch
from bertviz import head_view
from transformers import {kind}, AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = {kind}.from_pretrained(
    name, revision=revision, dtype="float32", attn_implementation="eager", use_safetensors=True
).eval()
"""


def _single_stack(member: Member, source: str, ends: dict[str, int | str]) -> str:
    """An encoder, or a decoder alone."""
    return f"""{_begin(member, "AutoModel")}
inputs = tokenizer({source!r}, return_tensors="pt")
with torch.inference_mode():
    attention = model(**inputs, output_attentions=True).attentions  # L times [1, A, n, n]
rows = columns = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
{ONE.format(**ends)}"""


def _both(member: Member, kind: str, source: str, reading: Reading, ends: dict[str, int | str]) -> str:
    """An encoder-decoder: it writes the target, or is given the one that was typed."""
    decoder_tokens = reading.kinds[DECODER].rows
    written = (
        f"model.generate(**inputs, max_new_tokens={len(reading.writes)}, num_beams=1, do_sample=False)[0].tolist()"
        if reading.chosen
        else f"tokenizer.convert_tokens_to_ids({list(decoder_tokens.names)!r})"
    )
    return f"""{_begin(member, "AutoModelForSeq2SeqLM")}
inputs = tokenizer({member.prefix + source!r}, return_tensors="pt")
written = {written}
decoder_input_ids = torch.tensor([written[:{len(decoder_tokens)}]])  # what the decoder reads; the end is only written
with torch.inference_mode():
    outputs = model(**inputs, decoder_input_ids=decoder_input_ids, output_attentions=True, use_cache=False)
encoder, decoder, cross = outputs.encoder_attentions, outputs.decoder_attentions, outputs.cross_attentions
source_tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
target_tokens = tokenizer.convert_ids_to_tokens(decoder_input_ids[0])
{CHOSEN[kind]}{THREE.format(**ends)}"""

"""The programs of "Switch heads off": they repeat the page's numbers with transformers and a hook, nothing else."""

from __future__ import annotations

from collections.abc import Collection

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.figures.program import begin

MIXING = {
    True: "model.encoder.layer[layer].attention.output.dense",
    False: "model.transformer.layer[layer].attention.out_lin",  # DistilBERT, which alone has no segments
}


def ablation_code(spec: ModelSpec, encoding: Encoding, off: Collection[tuple[int, int]]) -> str:
    """Prints each token's cosine before and after, for every hidden state, with these heads off."""
    return f"""{begin(spec, repr(encoding.text))}off = {sorted(off)!r}  # (layer, head)


def silence(layer):
    heads = [head for at, head in off if at == layer]

    def before_mixing(module, inputs):
        z = inputs[0].unflatten(-1, (model.config.num_attention_heads, -1)).clone()  # [batch, tokens, heads, width]
        z[:, :, heads] = 0
        return (z.flatten(-2),)

    return before_mixing


with torch.inference_mode():
    before = model(**inputs, output_hidden_states=True).hidden_states
    for layer in {{layer for layer, _ in off}}:
        {MIXING[spec.segments]}.register_forward_pre_hook(silence(layer))
    after = model(**inputs, output_hidden_states=True).hidden_states
cosines = torch.cosine_similarity(torch.stack(before), torch.stack(after), dim=-1)[:, 0]  # [states, tokens]
for token, column in zip(inputs.tokens(), cosines.T):
    print(token, [round(value, 4) for value in column.tolist()])
"""

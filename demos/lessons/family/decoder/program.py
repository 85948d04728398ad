"""The program that the part hands out: the decoder as transformers' own class, and the text that it writes."""

from __future__ import annotations

from demos.bert.causal.decoder import WINDOW
from demos.bert.causal.writing import Method
from demos.lessons.family.program_decoder import DECODER


def writing_code(text: str, method: Method, count: int) -> str:
    """Writes `count` word pieces after `text`; a greedy text is the page's, a random one draws other numbers."""
    seed, steps, chosen = "", "", "logits.argmax()"
    if not method.greedy:
        sampling = method.sampling
        seed = f"generator = torch.Generator().manual_seed({method.seed})\n"
        steps = f"    logits = logits / {sampling.temperature:g}\n"
        if sampling.top_k:
            steps += f"    logits[logits < logits.topk({sampling.top_k}).values[-1]] = float('-inf')\n"
        if sampling.top_p < 1:
            steps += "    shares, order = logits.softmax(-1).sort(descending=True, stable=True)\n"
            steps += f"    logits[order[shares.cumsum(-1) - shares >= {sampling.top_p:g}]] = float('-inf')\n"
        chosen = "torch.multinomial(logits.softmax(-1), 1, generator=generator)"
    return f"""{DECODER}
ids = tokenizer({text!r})["input_ids"][:-1]  # without [SEP]: the text goes on
{seed}for _ in range({count}):
    read = ids if len(ids) <= {WINDOW} else [ids[0], *ids[{1 - WINDOW}:]]
    with torch.inference_mode():
        logits = model(torch.tensor([read]), use_cache=False).logits[0, -1]
{steps}    ids.append(int({chosen}))
print(tokenizer.convert_ids_to_tokens(ids[{-count}:]))
print(tokenizer.decode(ids[1:]))
"""

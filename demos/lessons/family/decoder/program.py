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


def search_code(text: str, width: int, length: int) -> str:
    """Beam search, written out: prints the page's texts with their log-probabilities."""
    return f"""{DECODER}
ids = tokenizer({text!r})["input_ids"][:-1]  # without [SEP]: the text goes on
beam = [(0.0, [])]  # log-probability, word pieces
for _ in range({length}):
    read = [ids + pieces for _, pieces in beam]
    read = [sequence if len(sequence) <= {WINDOW} else [sequence[0], *sequence[{1 - WINDOW}:]] for sequence in read]
    with torch.inference_mode():
        logits = model(torch.tensor(read), use_cache=False).logits[:, -1]
    totals = torch.tensor([[total] for total, _ in beam]) + logits.log_softmax(-1)  # of all continuations
    best, places = totals.flatten().topk({width})
    parents, pieces = places // logits.shape[-1], places % logits.shape[-1]
    beam = [(total.item(), [*beam[parent][1], int(piece)]) for total, parent, piece in zip(best, parents, pieces)]
for total, pieces in beam:
    print(f"{{total:.2f}}", tokenizer.decode(pieces))
"""

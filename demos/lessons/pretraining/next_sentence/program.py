"""The program of "Next sentence": the same logits with transformers, or with our heads."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS
from demos.lessons.pretraining.program_lines import OURS

OUR_PAIRS = """tokenizer, encoder, pooler, relation = found.tokenizer, found.encoder.model, found.pooler, found.relation
"""

THEIRS = """import torch
from transformers import AutoTokenizer, BertForPreTraining

name, revision = {name!r}, {revision!r}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = BertForPreTraining.from_pretrained(name, revision=revision).eval()
"""


def next_code(spec: ModelSpec, pairs: Sequence[tuple[str, str]]) -> str:
    """Prints, a line a pair, the two logits, the two probabilities and the two losses; `spec` as in `Pretrained`."""
    if spec.hub_id:
        begin = THEIRS.format(name=spec.hub_id, revision=spec.revision)
        logits = "model(**inputs).seq_relationship_logits  # [pairs, 2]: IsNext, NotNext"
    else:
        begin = OURS + OUR_PAIRS
        logits = "relation(pooler(encoder(**inputs).last_hidden_state))  # [pairs, 2]: IsNext, NotNext"
    listed = "".join(f"    ({first!r}, {second!r}),\n" for first, second in pairs)
    return f"""{begin}
pairs = [
{listed}]
inputs = tokenizer(*map(list, zip(*pairs)), padding=True, truncation=True, max_length={MAX_TOKENS}, return_tensors="pt")
with torch.inference_mode():
    logits = {logits}
for row in logits:
    chances = row.softmax(dim=-1)
    losses = [torch.nn.functional.cross_entropy(row, torch.tensor(label)) for label in (0, 1)]
    print([round(float(value), 4) for value in (*row, *chances, *losses)])
"""

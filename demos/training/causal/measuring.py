"""A decoder's perplexity on a text that it was not trained on."""

import torch

from demos.bert.causal.decoder import next_word_logits
from demos.bert.causal.measured import Measured
from demos.bert.pretraining.heads import Pretrained

ROWS = 8  # windows in one pass: logits over the vocabulary are 30,522 numbers a token


@torch.inference_mode()
def measure(decoder: Pretrained, rows: torch.Tensor, title: str, first: int = 0) -> Measured:
    """`rows` <int64>[B, n + 1]: each position's next word piece is predicted, from `first` on; [UNK] never."""
    tokenizer, nats, tokens, right = decoder.tokenizer, 0.0, [], 0
    for part in rows.split(ROWS):
        logits, answers = next_word_logits(decoder, part[:, :-1])[:, first:], part[:, 1 + first :]
        known = answers != tokenizer.unk_token_id
        nats += torch.nn.functional.cross_entropy(logits[known], answers[known], reduction="sum").item()
        right += int((logits[known].argmax(-1) == answers[known]).sum())
        tokens += tokenizer.convert_ids_to_tokens(answers[known].tolist())
    words = sum(not token.startswith("##") for token in tokens)
    return Measured(title, nats, len(tokens), words, right)

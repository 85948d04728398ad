"""The question about the share of tokens for which the first guess is the token itself."""

from __future__ import annotations

from demos.bert.model.encoding import encode
from demos.bert.pretraining.guesses import masked
from demos.bert.pretraining.lens import states
from demos.errors import UserError
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

MOST = 96  # tokens, each of which takes a forward pass
AT_ONCE = 16
QUARTERS = ("seldom", "some", "many", "most")


def answer(services: Services, sentence: Sentence) -> Answer:
    """The share of tokens that the masked-word head puts first."""
    pretrained = services.pretrained(sentence.model)
    encoding = encode(pretrained.tokenizer, sentence.text, sentence.text_pair)
    if len(encoding) > MOST:
        raise UserError(f"The input has {len(encoding)} tokens; this is computed for up to {MOST}.")
    places = [place for place, special in enumerate(encoding.special_tokens_mask) if not special]
    if not places:
        raise UserError("There is no word to mask; type a sentence.")
    right = 0
    for start in range(0, len(places), AT_ONCE):
        batch = places[start : start + AT_ONCE]
        hidden = states(pretrained.encoder, [masked(pretrained.tokenizer, encoding, place) for place in batch])[0]
        for row, place in enumerate(batch):
            first = int(pretrained.word_logits(hidden[row, place]).argmax())
            right += first == encoding.input_ids[place]
    share = right / len(places)
    facts = {"right": right, "count": len(places), "share": share}
    return Answer(keys=frozenset({QUARTERS[min(int(share * 4), 3)]}), facts=facts)

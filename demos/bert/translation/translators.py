"""The kinds of translators, and one of each before its training."""

from demos.bert.translation.gru import SCORES, Translator
from demos.bert.translation.transformer import Transformer

TRANSFORMER = "transformer"  # Transformer.score
KINDS = (*SCORES, TRANSFORMER)  # GRUs by how they score, and the Transformer

AnyTranslator = Translator | Transformer


def make(kind: str, source_words: int, target_words: int) -> AnyTranslator:
    """A translator of this kind with random weights. Raises ValueError for an unknown kind."""
    if kind == TRANSFORMER:
        return Transformer(source_words, target_words)
    return Translator(source_words, target_words, kind)

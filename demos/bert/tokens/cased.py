"""BERT's cased vocabulary, which lies in assets/data: the cuts of bert-base-cased without that model.

Its rules are that model's: capitals and accents are kept (do_lower_case=False in its tokenizer_config.json).
"""

from functools import cache

from transformers import BertTokenizer

from demos.files import DATA, read_text

CASED_VOCABULARY = DATA / "cased_vocabulary.txt"


@cache
def cased_tokenizer() -> BertTokenizer:
    """The fast tokenizer, read at its first use (50 ms, 213 kB). Shared: set no truncation or padding."""
    entries = read_text(CASED_VOCABULARY).rstrip("\n").split("\n")  # splitlines() would also split at U+0085
    return BertTokenizer(vocab={entry: number for number, entry in enumerate(entries)}, do_lower_case=False)


@cache
def written_twice() -> int:
    """The number of entries with a capital letter that are in the vocabulary a second time without it: The, the."""
    entries = cased_tokenizer().get_vocab()
    return sum(entry != entry.lower() and entry.lower() in entries for entry in entries)

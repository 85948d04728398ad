"""The tree of a beam search, for translations and for a decoder's own texts."""

"""Shape of the space: how alike strangers are on each layer, which dimensions make them so, and what repairs give."""

"""Fill the mask: what a model puts at a hidden word, at every layer, and what the words around it do for that."""

"""Fill the mask: a model's predictions for a masked word, at every layer, and the effect of the words around it."""

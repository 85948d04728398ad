"""Two choices: one vector for a whole sentence, by pooling and layer, two ways side by side."""

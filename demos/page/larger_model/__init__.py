"""The sentence that says that the bundled model is small, and the button for BERT base where it can be had."""

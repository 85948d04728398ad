"""WordPiece with its work shown, the vocabulary, and how finely a text is cut."""

"""Inside BERT: lessons that show how BERT works, and the arithmetic under them."""

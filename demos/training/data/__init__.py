"""The data of a run: read from our own files, a person's, or the Hub, checked, and split."""

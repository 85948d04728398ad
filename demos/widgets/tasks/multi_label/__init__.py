"""The task on the page: any number of labels for a sentence."""

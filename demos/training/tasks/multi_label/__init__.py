"""The task: any number of labels for a sentence, none included."""

"""The task: named entities, a label for each word."""

"""The task: which of several endings fits."""

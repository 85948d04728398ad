"""The task: rated sentence pairs through two towers with the same weights."""

"""What is shown of the two pre-training tasks."""

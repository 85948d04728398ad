"""The task: extractive question answering."""

"""The task on the page: multiple choice."""

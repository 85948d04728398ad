"""The task on the page: questions about a paragraph."""

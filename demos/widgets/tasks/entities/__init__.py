"""The task on the page: named entities."""

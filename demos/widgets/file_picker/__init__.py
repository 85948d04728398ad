"""The picker of a reader's own file."""

"""A training on the page: start, pause, stop, and what each event changes on the screen."""

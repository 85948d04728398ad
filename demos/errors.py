"""The one error that a person can cause: a plain sentence, which the page shows unchanged."""


class UserError(ValueError):
    """Bad input, described in one plain sentence. The page shows it and keeps what was there before."""

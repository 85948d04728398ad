"""The page's typefaces."""

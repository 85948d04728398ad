"""The tasks as the page shows them: data, scores, mistakes, try-it boxes."""

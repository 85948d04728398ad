"""A box that finds parts, questions, tours and terms by their words; the search itself runs in the browser."""

"""The field's terms: what each means, shown where a lesson first uses it, and all of them on a page."""

"""HTML that a script of ours moves."""

"""Training a small translator, live on the page or by a command."""

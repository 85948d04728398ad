"""What several parts show: each folder one widget, with its script and its style."""

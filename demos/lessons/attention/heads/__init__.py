"""One head: all heads at a glance, heads found by their pattern, and one opened in bertviz's views and as numbers."""

"""One head: all heads at a glance, a head found by what it looks at, opened in bertviz's views and as numbers."""

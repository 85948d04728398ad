"""Delivery of a page to the browser: its address, its first view, and one compressed copy for all."""

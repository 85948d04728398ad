"""What annotation tools export: which annotation of a text counts, and its spans as tags of words."""

"""Two runs compared: which two, and their attentions side by side with the difference."""

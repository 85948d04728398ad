"""Two at once: two sentences, two models, or before and after a fine-tune; both attentions and their difference."""

"""A word in its context: the same word in several sentences, layer by layer, and its senses found from vectors."""

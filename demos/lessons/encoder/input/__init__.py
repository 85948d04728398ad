"""Input: from a token's id to the input vector of the first layer, and the effect of leaving a part out."""

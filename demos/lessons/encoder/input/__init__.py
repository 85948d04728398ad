"""Input: from a token's number to the vector that the first layer reads, and what is lost when a part is missing."""

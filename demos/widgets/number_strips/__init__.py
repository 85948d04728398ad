"""A picture of coloured cells that tells the number under the pointer."""

"""A picture of coloured cells that shows the number under the pointer."""

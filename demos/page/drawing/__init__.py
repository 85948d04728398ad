"""The answers of drawings, and the cache that remembers them."""

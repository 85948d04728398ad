"""How large a file of a reader's may be: for the request that brings it and for whoever reads it."""

MAX_UPLOAD = 5 * 2**20  # bytes

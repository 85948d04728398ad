"""The largest size of a reader's file: for the request that brings it and for the code that reads it."""

MAX_UPLOAD = 5 * 2**20  # bytes

"""Many inputs in one pass: as token ids, padded to the longest, or packed end to end."""

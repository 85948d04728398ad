"""Tab "Who changed what": a timeline of the family's models."""

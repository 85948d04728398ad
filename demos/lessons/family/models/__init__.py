"""Who changed what: the models of the family, by year."""

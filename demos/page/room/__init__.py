"""The room: a lecturer's page that a class follows, with votes, sentences from the hall and one run for all."""

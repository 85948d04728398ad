"""A model of the Hub is fetched while the page tells how far it is."""

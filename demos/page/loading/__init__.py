"""A model of the Hub is fetched while the page shows the progress."""

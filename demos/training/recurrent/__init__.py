"""The training of the small recurrent network that comes along."""

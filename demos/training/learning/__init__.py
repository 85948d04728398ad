"""What happens inside a run: the model, what of it trains, how its steps are made quick."""

"""Part "Train": pick a task and a recipe, change one setting, press Start, watch the training, try the model."""

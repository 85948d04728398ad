"""Part "Train": pick a task, begin with a recipe, change one thing, press Start, watch it learn, try it."""

"""An encoder layer and a stack of them, every intermediate kept."""

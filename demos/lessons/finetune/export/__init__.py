"""Part "Keep it": the trained model as a folder for transformers, the run as a program and as a command."""

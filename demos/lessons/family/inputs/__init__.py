"""How a task becomes one input: for BERT, for GPT, and as text for T5."""

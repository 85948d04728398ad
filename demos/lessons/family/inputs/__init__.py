"""The input format of each task: for BERT, for GPT, and as text for T5."""

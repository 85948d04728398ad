"""The models beside BERT: which of them can be opened, and the attention of their encoders and decoders."""

"""BERT, GPT and ELMo side by side, and a word's vector by ELMo."""

"""Exports of annotation tools: the annotation of a text that counts, and its spans as tags of words."""

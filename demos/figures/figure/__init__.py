"""Figures of Plotly's as dictionaries, and one sentence on what each shows."""

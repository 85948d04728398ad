"""Numbers in, pictures out: Plotly figures, bertviz documents and token chips; no Gradio, no torch."""

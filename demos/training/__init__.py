"""The live fine-tune: data sets, tasks, loop and events; no Gradio, no Plotly."""

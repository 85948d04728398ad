"""The changes that this app makes in Gradio, uvicorn and asyncio while it runs, and the effects of leaving one out."""

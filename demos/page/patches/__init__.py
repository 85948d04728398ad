"""What this app changes in Gradio, uvicorn and asyncio while it runs, and how it does without each change."""

"""The furniture that all lessons share: the sentence bar, the frame, the guards, the theme (Gradio)."""

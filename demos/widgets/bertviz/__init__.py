"""bertviz's own views in a sandboxed frame, and what they are sent."""

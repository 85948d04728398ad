"""Switch heads off: what a sentence loses without some heads, and gradient x input beside attention."""

"""The corruption machine: 15% of a text's tokens chosen, masked, replaced or kept, and what each guess costs."""

"""The two menus that choose pooling and layer."""

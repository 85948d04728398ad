"""How a page reaches the browser: at which address, drawn already, compressed once for all."""

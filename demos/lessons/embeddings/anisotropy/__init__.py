"""Shape of the space: mean cosines of unrelated vectors by layer, the dimensions behind them, and corrections."""

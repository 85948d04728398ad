"""Tables that a click on a column's head sorts."""

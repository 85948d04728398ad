"""Part "What was learned": the same sentences and heads before and after, its errors, and its calibration."""

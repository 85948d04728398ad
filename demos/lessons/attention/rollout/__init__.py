"""Many heads as one: means, maxima and rollout, between tokens or words, with the rows' sums beside the picture."""

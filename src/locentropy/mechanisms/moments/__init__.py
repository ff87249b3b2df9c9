"""Moments: the entropy of bounded visits from noisy sums, with error bars, under pure ε-differential privacy."""

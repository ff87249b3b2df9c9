"""Shares: the true entropy of every place, with error bars, under pure ε-differential privacy."""

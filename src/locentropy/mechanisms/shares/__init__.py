"""Shares: the true entropy of every place, with error bars, under ε- or (ε, δ)-differential privacy."""

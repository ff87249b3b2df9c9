"""Shares: the true entropy of every place, with error bars, under pure ε-differential privacy."""

from locentropy.mechanisms.shares.mechanism import Shares

__all__ = ["Shares"]

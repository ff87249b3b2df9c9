"""Recommend a mechanism and its parameters, from public numbers or a survey that was paid for."""

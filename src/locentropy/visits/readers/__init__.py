"""Readers: what a source is made of, and how its rows are read."""

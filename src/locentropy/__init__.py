"""Publish how popular places are without giving away who was there."""

__version__ = "0.1.0.dev0"

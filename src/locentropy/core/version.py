"""The version of this package, where every part of it can see it."""

__version__ = "0.1.0.dev0"

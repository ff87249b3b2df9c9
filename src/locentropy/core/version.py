"""The version of this package, where every part of it can see it."""

__version__ = "0.2.0.dev0"

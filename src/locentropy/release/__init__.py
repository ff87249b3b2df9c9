"""The public side: a release, what is said about it, and its files."""

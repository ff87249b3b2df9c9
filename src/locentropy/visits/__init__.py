"""The private side: where a table of visits is, what its columns mean, and integer queries on it."""

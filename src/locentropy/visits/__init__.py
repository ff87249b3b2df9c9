"""The private side: a table of visits, the meaning of its columns, and integer queries on it."""

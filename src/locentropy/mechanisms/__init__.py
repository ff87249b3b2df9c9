"""The crossing: one file per algorithm, from integer queries on private data to estimates fit to publish."""

"""Numbers known beforehand, to test against."""

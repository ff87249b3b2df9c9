"""Which mechanism and which parameters suit some data."""

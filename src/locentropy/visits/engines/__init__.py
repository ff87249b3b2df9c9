"""Where queries run: embedded DuckDB, or the backend of an Ibis table."""

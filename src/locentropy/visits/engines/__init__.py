"""The engines that run queries: embedded DuckDB, Spark, or the backend of an Ibis table."""

"""Where a table of visits can be: text and Parquet files, DuckDB databases, data frames."""

"""The vocabulary of every other package: bounds, profiles, queries, locations and errors."""

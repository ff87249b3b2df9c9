"""The vocabulary that every other part speaks: bounds, profiles, queries and errors."""

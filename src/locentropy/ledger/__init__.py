"""The budget of a population of people."""

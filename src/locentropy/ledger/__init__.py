"""The privacy budget of a population: its rules, its file, and the `Ledger` that people use."""

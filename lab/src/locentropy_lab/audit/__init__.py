"""Attacks on our own promises, for whoever wants to run them again: exact losses, black-box tests, planted faults."""

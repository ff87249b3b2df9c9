"""Faults, planted one at a time, and the checks that must see them."""

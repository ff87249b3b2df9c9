"""Faults that are planted in the software, one at a time, and the checks that must see them."""

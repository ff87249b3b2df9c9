"""The audit of the guarantees: exact losses of the worst neighbours, black-box attacks, planted faults."""

"""The paper's experiments again. Public seeds, simulated noise: nothing here may be published."""

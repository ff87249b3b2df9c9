"""The laboratory of locentropy: its audit, the 2016 paper reproduced, and the paper's synthetic data."""

__version__ = "0.2.0.dev0"

"""The laboratory of locentropy: the 2016 paper reproduced, its synthetic data, and the audit."""

__version__ = "0.1.0.dev0"

"""Numbers that Moments must give, found independently: C = 5, and errors for counts Zipf(2) cut at 5, with M = 5."""

from __future__ import annotations

MATRIX_5 = ((0.8258, -0.5176), (-0.1742, 0.2280))
"""B for C = 5, to four digits."""

TABLE_5 = ((54119, -11417), (61209, -2124), (50548, 14988), (28361, 37175), (-2398, 63138))
"""The integer table of C = 5 at a unit of 2^16."""

SENSITIVITY_5 = 65536

ERRORS = {(1.0, 10): 0.848, (1.0, 100): 0.110, (1.0, 1000): 0.0112, (0.1, 1000): 0.109, (5.0, 100): 0.022}
"""Root of the mean squared error against the bounded entropy, by (ε, n)."""

SEPARATELY = (4, 12)
"""How many times larger the error is when c and S are noised each by itself: between these."""

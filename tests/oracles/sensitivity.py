"""Numbers that the sensitivities, their smoothing and their calibration must give, found independently."""

from __future__ import annotations

GLOBAL = {20: 0.898543, 50: 1.547941, 60: 1.684620}
"""GS(C), to six digits; ln 2 for every C up to 14."""

LN2_UP_TO = 14

LOCAL_5 = {
    1: 0.69315,
    2: 0.69315,
    3: 0.49279,
    5: 0.29317,
    10: 0.13990,
    20: 0.10168,
    50: 0.05186,
    100: 0.02811,
    1000: 0.00302,
}
"""LS(5, n), to five digits."""

LOCAL = {(20, 10): 0.89854, (50, 17): 1.54794}
"""LS(C, n), to five digits."""

BETA = {(5, 1.0): 0.0250, (5, 5.0): 0.1094, (30, 1.0): 0.01406, (1, 1.0): 0.03493}
"""β(M, ε) of continuous noise at ε₁ = ε₂ and δ = 1e-8, to three or four digits."""

DELTA = 1e-8

PUBLISHED_THEOREM_1_EXCESS = 0.00062
"""The published closed form of GS(C), C ≥ 2, is at most this much above the exact value, relatively."""

LOOP_FROM_ONE_DELTA = 0.157
"""δ reached at ε = 0.1, M = C = 5 when S, of the published LS, leaves out j = n."""

CUT_ON_LOCAL = (0.0508, 0.001)
"""S before and after the step at which it is cut where LS < ξ = 0.001: C = 1, ε = 0.1."""

CUT_ON_LOCAL_DELTA = 0.90
"""δ reached there, at least."""

BETA_OF_ONE_DELTA = {(5.0, 5): 2.9e-9, (10.0, 5): 5.9e-8, (5.0, 30): 7e-7, (10.0, 30): 1.2e-5}
"""δ(ε, M) reached at nominal 1e-8, C = 5, published LS, when β is the one of a single location."""

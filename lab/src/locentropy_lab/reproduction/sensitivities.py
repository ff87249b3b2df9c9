"""The paper's figures of sensitivity and noise: functions of public numbers, printed and exact side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from locentropy.evaluation.advice.density import crossover
from locentropy.mechanisms.paper.limit_ss import LimitSS
from locentropy.privacy.noise import LATTICE
from locentropy.privacy.sensitivity import global_sensitivity, local_sensitivity, supremum_from
from locentropy.privacy.smooth import SmoothSensitivity
from locentropy_lab import as_printed
from locentropy_lab.reproduction.settings import C_MAX, M_MAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy_lab.reproduction.settings import Settings

    Integers = NDArray[np.int64]

BY_C: Final = 100
"""Figure 1 goes to this C."""
SOME_C: Final = (1, 5, 10, 20, 50)
"""Curves of figure 5."""
USERS: Final = np.unique(np.round(np.geomspace(1, 1000, 121)).astype(np.int64))
NOISE: Final = {"epsilon": 5.0, "max_locations": 5, "max_visits": 20, "min_users": 25}
"""Figure 2's parameters."""

SENSITIVITIES: Final = "sensitivities"
ALGORITHM_4: Final = "sensitivities, Algorithm 4"
PRINTED_NOISE: Final = "noise as printed"
CORRECTED_NOISE: Final = "noise as corrected"
"""What is compared to find n_CB."""


def by_visits() -> pa.Table:
    """Global sensitivity by C: Theorem 1, and exact."""
    visits = list(range(1, BY_C + 1))
    return pa.table({
        "max_visits": visits,
        "theorem_1": [as_printed.theorem_1(c) for c in visits],
        "exact": [global_sensitivity(c) for c in visits],
    })  # fmt: skip


def by_users() -> pa.Table:
    """Local sensitivity by n: Theorem 2, and exact."""
    return pa.concat_tables([
        pa.table({
            "max_visits": np.full(len(USERS), c), "users": USERS,
            "theorem_2": as_printed.theorem_2(c, USERS), "exact": local_sensitivity(c, USERS),
        })
        for c in SOME_C
    ])  # fmt: skip


def noise_by_users(settings: Settings) -> pa.Table:
    """Scale of the noise, in nats, by n, at figure 2's parameters; the printed algorithms and the corrected ones."""
    n = USERS
    epsilon, m, c, k = (NOISE[name] for name in ("epsilon", "max_locations", "max_visits", "min_users"))
    m, c, k = int(m), int(c), int(k)
    flat = np.ones(len(n))
    shown = np.where(n >= k, 1.0, np.nan)
    smooth = LimitSS(epsilon, delta=settings.delta, max_locations=m, max_visits=c, floor=settings.floor)
    scales = {
        "baseline-as-printed": flat * as_printed.limit_scale(epsilon, M_MAX, C_MAX),
        "limit-as-printed": flat * as_printed.limit_scale(epsilon, m, c),
        "limit-ss-as-printed": as_printed.limit_ss_scales(n, epsilon, settings.delta, m, c, settings.floor),
        "limit-cb-as-printed": shown * as_printed.limit_cb_scale(epsilon, m, c, k),
        "baseline": flat * M_MAX * global_sensitivity(C_MAX) / epsilon,
        "limit": flat * m * global_sensitivity(c) / epsilon,
        "limit-ss": smooth.scales(n) / LATTICE,
        "limit-cb": shown * m * supremum_from(c, k - 1) / epsilon,
    }
    return pa.concat_tables([
        pa.table({"mechanism": [name] * len(n), "users": n, "scale": scale}) for name, scale in scales.items()
    ])  # fmt: skip


def crossings(settings: Settings) -> dict[str, int | None]:
    """n_CB at the defaults, by what is compared.

    The paper compares sensitivities. By the definition of smooth sensitivity they cross at another n than by the values
    of its Algorithm 4, which leaves LS(n) itself out. What is drawn is noise: as printed, and as corrected.
    """
    s = settings
    users = np.arange(1, 20_001)
    bound = (s.epsilon, s.max_locations, s.max_visits)
    scales = as_printed.limit_ss_scales(users, s.epsilon, s.delta, s.max_locations, s.max_visits, s.floor)
    crowd = float(as_printed.limit_cb_scale(*bound, s.min_users))
    per_unit = s.max_locations / s.epsilon
    smooth = SmoothSensitivity(s.max_visits, as_printed.beta(s.epsilon, s.delta), s.floor)(users)
    less = crowd * (1 - 1e-9)  # at n = k both are LS(k), up to rounding
    return {
        SENSITIVITIES: _from(users, per_unit * smooth < less),
        ALGORITHM_4: _from(users, scales / 2.0 < less),
        PRINTED_NOISE: _from(users, scales < less),
        CORRECTED_NOISE: crossover(s.epsilon, s.delta, s.max_locations, s.max_visits, s.min_users),
    }


def _from(users: Integers, smaller: NDArray[Any]) -> int | None:
    """The first n from which on it is smaller."""
    not_yet = np.flatnonzero(~smaller)
    if not len(not_yet):
        return int(users[0])
    return int(users[not_yet[-1] + 1]) if not_yet[-1] + 1 < len(users) else None

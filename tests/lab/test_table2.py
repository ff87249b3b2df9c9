"""Table 2 of the paper, from the data through the engine."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import locentropy as le
from locentropy.visits.queries import profile_of_chunks
from locentropy_lab.zipf import ZipfVisits
from tests.oracles.table2 import DENSE, GOWALLA_NY, SPARSE


def test_sparse() -> None:
    with le.private.open_queries(le.Visits(ZipfVisits.sparse().table())) as queries:
        profile, per_user = queries.exact_profile(), queries.locations_per_user()
    users, pairs = per_user.sum(), (per_user * np.arange(len(per_user))).sum()
    assert users == 100_000
    assert len(profile) == 10_000
    assert profile.entropy.max() == pytest.approx(SPARSE["max"], abs=0.05)
    assert profile.entropy.mean() == pytest.approx(SPARSE["mean"], abs=0.05)
    assert profile.entropy.var() == pytest.approx(SPARSE["variance"], abs=0.05)
    assert profile.entropy.min() == pytest.approx(SPARSE["min"], abs=0.2)
    assert pairs / users == pytest.approx(SPARSE["locations_per_user"], rel=0.01)
    assert profile.user_counts.mean() == pytest.approx(SPARSE["users_per_location"], rel=0.01)
    assert profile.visit_counts.sum() / users == pytest.approx(SPARSE["visits_per_user"], rel=0.01)


@pytest.mark.nightly
def test_dense() -> None:
    """All 193 million rows, drawn and counted in chunks, never on disk."""
    parts = ZipfVisits.dense().chunks()
    millions = (pa.concat_tables([part, *islice(parts, 9)]) for part in parts)
    profile = profile_of_chunks(map(le.Visits, millions), None)
    assert len(profile) == 10_000
    assert profile.entropy.max() == pytest.approx(DENSE["max"], abs=0.05)
    assert profile.entropy.mean() == pytest.approx(DENSE["mean"], abs=0.05)
    assert profile.entropy.var() == pytest.approx(DENSE["variance"], abs=0.05)
    assert profile.entropy.min() == pytest.approx(DENSE["min"], abs=0.2)


def test_gowalla_new_york(gowalla: Path) -> None:
    with le.private.open_queries(le.Visits(gowalla)) as queries:
        profile, per_user = queries.exact_profile(), queries.locations_per_user()
    shared = profile.entropy[profile.user_counts > 1]
    assert len(profile) == GOWALLA_NY["locations"]
    assert per_user.sum() == GOWALLA_NY["users"]
    assert profile.entropy.max() == pytest.approx(GOWALLA_NY["max"], abs=0.005)
    assert shared.mean() == pytest.approx(GOWALLA_NY["mean"], abs=0.005)
    assert shared.var() == pytest.approx(GOWALLA_NY["variance"], abs=0.005)
    assert len(per_user) - 1 == GOWALLA_NY["max_locations_per_user"]
    mean = (per_user * np.arange(len(per_user))).sum() / per_user.sum()
    assert mean == pytest.approx(GOWALLA_NY["locations_per_user"], abs=0.05)
    assert profile.visits.max() == GOWALLA_NY["max_visits"]

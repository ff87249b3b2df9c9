"""A real Spark for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import locentropy as le

from . import agreeing


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One session for all tests: two workers, few partitions, on loopback."""
    agreeing.require_java()
    from locentropy.visits.engines.spark_session import local_session

    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_SUBMIT_OPTS", agreeing.SHORT_LIVED_JAVA)
        session = local_session(le.Resources(engine="spark", memory="1GB", threads=2), str(folder))
    session.conf.set("spark.sql.shuffle.partitions", "3")
    yield session
    session.stop()


@pytest.fixture
def here(spark: Any) -> le.Resources:
    return le.Resources(session=spark)

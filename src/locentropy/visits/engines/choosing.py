"""Which engine: the one that the visits belong to, else the one that was asked for. Only that one is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.visits.engines.engine import Engine, Progress, Resources
    from locentropy.visits.visits import Visits


def engine_for(
    visits: Visits, required: Sequence[str], resources: Resources, progress: Progress | None
) -> Engine:
    """An engine with the visits open in it."""
    library = type(visits.source).__module__.partition(".")[0]
    if library == "pyspark" or resources.engine == "spark" or (library == "ibis" and _on_spark(visits)):
        from locentropy.visits.engines.spark import SparkEngine
        from locentropy.visits.engines.spark_session import must_have_spark

        must_have_spark()
        return SparkEngine(visits, required, resources, progress)
    if library == "ibis":
        from locentropy.visits.engines.ibis import IbisEngine

        return IbisEngine(visits, required, progress)
    from locentropy.visits.engines.duckdb import DuckDBEngine

    return DuckDBEngine(visits, required, resources, progress)


def _on_spark(visits: Visits) -> bool:
    import ibis

    try:
        return bool(ibis.get_backend(visits.source).name == "pyspark")
    except Exception:  # what is no table, or of two backends, is for the engine of Ibis tables to refuse
        return False

"""Any Ibis backend: the visits stay in the warehouse they are in, and only integers come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from locentropy.visits.columns import resolve
from locentropy.visits.kinds import MOST_VISITS_PER_ROW, Kind, must_fit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import ibis
    import pyarrow as pa

    from locentropy.visits.engines.engine import Progress
    from locentropy.visits.visits import Ids, Visits


def is_ibis_table(source: object) -> bool:
    """Whether this is an Ibis table, without importing Ibis to find out."""
    return type(source).__module__.partition(".")[0] == "ibis"


class IbisEngine:
    """Runs expressions on the backend that an Ibis table belongs to."""

    def __init__(self, visits: Visits, required: Sequence[str], progress: Progress | None) -> None:
        table = visits.source
        self._progress = progress
        self.label = f"the Ibis table {table.get_name()}" if hasattr(table, "get_name") else "the Ibis table"
        roles = resolve(visits.choices_for(required), table.columns, self.label, required)
        self.columns = roles
        self.typed_locations = True
        for role, name in roles.items():
            must_fit(role, name, _kind(table[name].type()), str(table[name].type()), self.label)
        self.visits = table.select(
            **{role: _cast(role, table[name], visits.ids) for role, name in roles.items()}
        )

    def blame(self, condition: ibis.Expr) -> str:
        """The table is one."""
        return self.label

    def run(self, expression: ibis.Table, doing: str) -> pa.Table:
        """The rows of an expression, as an Arrow table."""
        if self._progress is not None:
            self._progress(doing, None)
        return expression.to_pyarrow()

    def keep(self, name: str, expression: ibis.Table, doing: str) -> ibis.Table:
        """Store the rows of an expression in the backend, for as long as somebody uses them."""
        if self._progress is not None:
            self._progress(doing, None)
        return expression.cache()

    def upload(self, name: str, table: pa.Table) -> ibis.Table:
        """Send a small table to the backend with each query that uses it."""
        import ibis

        return ibis.memtable(table)

    def forget_visits(self) -> None:
        """Nothing was copied."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def _kind(dtype: Any) -> Kind:
    """The kind of an Ibis type."""
    if dtype.is_integer():
        return "big-integer" if dtype.is_uint64() else "integer"
    if dtype.is_decimal():
        return "big-integer" if dtype.scale == 0 else "real"
    if dtype.is_string() or dtype.is_uuid():
        return "text"
    if dtype.is_floating():
        return "real"
    return "moment" if dtype.is_timestamp() or dtype.is_date() else "other"


def _cast(role: str, column: Any, ids: Ids) -> Any:
    """A column in its role. Texts are ids and nothing else: a warehouse has types for times and numbers."""
    kind = _kind(column.type())
    if role in ("user", "location"):
        return column.cast("int64" if kind == "integer" and ids != "text" else "string")
    if role == "time":
        return column
    if role != "visits":
        return column.cast("float64")
    reasonable = column.between(1, MOST_VISITS_PER_ROW) & (column == column.floor())
    return reasonable.ifelse(column, 0).cast("int64")

"""Rebuild a ledger that was lost, from the releases that it paid for and the records of attempts that it had begun.

    rebuild_ledger("new.ledger", ["may", "june", ".july.publishing"], "riders of the city", epsilon=4, complete=True)

Releases are verified first: one that was changed to look cheaper must not lower what was spent.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.core.window_split import split
from locentropy.ledger.accounts import Charge
from locentropy.ledger.ledger import Ledger
from locentropy.ledger.parts import Part, part_of
from locentropy.ledger.rebuilding import Earlier, stated_terms
from locentropy.privacy.guarantee import Guarantee, exact, exact_text
from locentropy.privacy.units import check_unit, part_windows
from locentropy.publishing.publication_file import CHARGE, NO_LEDGER_ID, record_in
from locentropy.release.reading import describe
from locentropy.release.statement import INFINITE, LONGEST_TITLE, amount
from locentropy.release.verify import verify
from locentropy.release.verify_guarantee import unknown_cost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locentropy.core.windows import Window
    from locentropy.ledger.rules import Account
    from locentropy.privacy.guarantee import Number
    from locentropy.release.statement import LedgerNote

_EPSILON: Final = re.compile(r"(?:^|, )epsilon=([^,]+)")
"""What a mechanism was asked to cost, in the record of an attempt."""


def rebuild_ledger(
    path: str | Path,
    sources: Iterable[str | Path],
    population: str,
    epsilon: Number,
    delta: Number = 0,
    *,
    complete: bool = False,
    another: bool = False,
    **terms: Any,
) -> Ledger:
    """Rebuild a ledger that was lost. What its releases cost is spent in the new one, under the same ids.

    Parameters
    ----------
    path
        The file of the new ledger; or of one that was rebuilt and is not complete, to which what is missing is added.
    sources
        The directories of all releases that the lost ledger paid for, and the records of attempts that were not
        finished (`.NAME.publishing`): these count as spent, and cannot be finished.
    population, epsilon, delta
        As the lost ledger had them: its releases state them, and others are refused.
    complete
        True says that these are all releases that were ever published or possibly drawn. Before that, the ledger
        admits nothing. If it cannot be known, nothing is left.
    another
        Must be True if the folder has a ledger that was rebuilt from one of these spends already.
    terms
        As `Ledger.create` takes them: unit, person_epsilon, person_delta, zone, composition, reserved_delta,
        large_epsilon.

    Returns
    -------
    Ledger
        The ledger, with an id of its own; later releases say that it was rebuilt.

    Raises
    ------
    ReleaseError
        A release does not verify, or was made without a ledger; or a record does not state what its attempt cost.
    LedgerError
        A release is of another unit, population or budget, or something is missing.
    """
    earlier = [_stated_in(Path(source)) for source in sources]
    return Ledger.rebuild(
        path, earlier, population, epsilon, delta, complete=complete, another=another, **terms
    )


def charge_in(book: Account, guarantee: Guarantee, windows: tuple[Window | None, ...]) -> dict[str, Any]:
    """What a ledger is charged for an attempt, as the record of the attempt holds it."""
    parts = [part_of("", guarantee, each, book.calendar) for each in windows] if guarantee.private else []
    return {**stated_terms(book), "parts": [part.as_values() for part in parts]}


def _stated_in(source: Path) -> Earlier:
    return _release(source) if source.is_dir() else _attempt(source)


def _attempt(path: Path) -> Earlier:
    """What the record of an attempt states of its spend, which counts as spent whether it was or not."""
    record = record_in(path)
    if record is None or record["order"].get("ledger") == NO_LEDGER_ID:
        raise ReleaseError(f"{path} is not the record of an attempt that a ledger pays for. Leave it out.")
    try:
        return _charged(path, record)
    except (LocentropyError, KeyError, TypeError, ValueError, AttributeError):
        raise ReleaseError(
            f"{path} does not state what its attempt cost: an earlier version has begun it, or it was changed. So what "
            "was spent is not known. A ledger that is rebuilt without it must not be called complete."
        ) from None


def _charged(path: Path, record: dict[str, Any]) -> Earlier:
    charge = dict(record[CHARGE])
    unit = check_unit(charge["unit"])
    parts = [Part.from_values(values, unit) for values in charge.pop("parts")]
    if any(part.charge != parts[0].charge for part in parts) or set(map(type, charge.values())) != {str}:
        raise ReleaseError("it is not as it was written")
    windows = [
        part.window if part.window is None else replace(part.window, within=part.borders or None)
        for part in parts
    ]
    cost = parts[0].guarantee if parts else Guarantee.none("an attempt without a guarantee")
    asked = _EPSILON.search(record["order"]["parameters"])
    built_in = "." not in record["order"]["mechanism"]  # that of others has its module in its name
    if built_in and asked is not None and cost.epsilon is not None and cost.epsilon < exact(asked[1]):
        raise ReleaseError("it costs less than what was asked for")
    return Earlier(
        str(path), record["spend"], record["order"]["title"], cost, tuple(windows) or (None,), charge
    )


def _release(directory: Path) -> Earlier:
    """What a release states of its spend, once it is verified."""
    report = verify(directory)
    if not report.ok:
        problem = next(problem for check in report.checks for problem in check.problems)
        raise ReleaseError(
            f"{directory} is not as it was published ({problem.rstrip('.')}), so what it cost is not known. "
            f"Put it back as it was; see locentropy verify {directory}"
        )
    about = describe(directory)
    if (unknown := unknown_cost(about)) is not None:
        raise ReleaseError(
            f"{directory}: {unknown} Until then, what it cost is not known to be what it states. A ledger that is "
            "rebuilt without it must not be called complete."
        )
    statement = about.statement
    note = statement.ledger
    if note is None:
        raise ReleaseError(
            f"{directory} was published without a ledger, so no ledger was charged for it. Leave it out."
        )
    unit, windows = note.unit, () if statement.windows is None else split(statement.window, statement.windows)
    return Earlier(
        str(directory),
        note.spend_id,
        statement.title[:LONGEST_TITLE],
        statement.guarantee,
        part_windows(unit, statement.window, windows) if statement.private else (None,),
        _terms(note),
        statement.release_id,
        **_sums(note),
        tuned=statement.tuned_unaccounted,
        input_checked=note.input_checked,
        withdrawn=tuple((each.release, each.why) for each in note.withdrawn),
    )


def _terms(note: LedgerNote) -> dict[str, str]:
    """The terms of the ledger as `stated_terms` has them."""
    amounts = {
        "epsilon": note.total_epsilon,
        "delta": note.total_delta,
        "person_epsilon": note.person_epsilon,
        "person_delta": note.person_delta,
        "rho": note.rho,
    }
    given = {name: exact_text(amount(text, name)) for name, text in amounts.items() if text is not None}
    return {
        "unit": note.unit,
        "population": note.population,
        "composition": note.composition,
        **given,
    }


def _sums(note: LedgerNote) -> dict[str, Charge]:
    """What had been spent right after the release, for the person and in its period."""

    def charge(epsilon: str | None, delta: str | None, rho: str | None) -> Charge:
        found = ("0" if text in (None, INFINITE) else text for text in (epsilon, delta, rho))
        return Charge(*(amount(text, "spent") for text in found))

    there = charge(note.spent_epsilon, note.spent_delta, note.spent_rho)
    if note.person_epsilon is None:
        return {"person": there}
    always = charge(note.person_spent_epsilon, note.person_spent_delta, note.person_spent_rho)
    return {"person": always, "cell": there}

"""From noisy numbers to a release, by public things alone; and the rehearsal of that, before anything is spent.

Earlier releases and lists come from others, may be forged, and enter the inference. Whatever fails because of them
fails in the rehearsal, on invented numbers, where it costs nothing. What fails all the same, on the real ones, fails
again however often it is repeated: then a release of a series can be finished without it (`without_series`).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import LocentropyError, ParameterError, ReleaseError
from locentropy.core.locations import Locations
from locentropy.mechanisms.select import SelectLocations
from locentropy.privacy.guarantee import Guarantee
from locentropy.publishing.invented import InventedNoise, InventedQueries
from locentropy.release.measurements import KeptMeasurements
from locentropy.release.release import Release
from locentropy.release.signal import signal_of

if TYPE_CHECKING:
    from pathlib import Path

    from locentropy.core.estimates import Measurements
    from locentropy.publishing.publication import Publication
    from locentropy.publishing.request import Request
    from locentropy.publishing.requested_levels import RequestedLevel
    from locentropy.release.statement import Statement
    from locentropy.visits.engines.base import Progress

WITHOUT: Final = (
    "What was spent for this release is not lost: the same call with --without-series (without_series=True) publishes "
    "it from its own measurements alone."
)

_INVENTED_ID: Final = "0" * 32


def inferred(
    request: Request, level: RequestedLevel, kept: KeptMeasurements, statement: Statement
) -> Release:
    """The release of a level, from its measurements."""
    listed, measured = listed_in(request, level, kept.measurements), kept.measurements
    if request.series is None:
        estimates = level.mechanism.estimate(measured, listed)
    else:
        try:
            estimates = level.mechanism.estimate_after(request.series.measurements, measured, listed)
        except Exception as error:  # earlier releases may hold anything
            raise ReleaseError(
                f"No values can be computed from the measurements of the earlier releases ({_words(error)})."
            ) from error
    published = kept if level.mechanism.publishes_measurements else None
    statement = replace(statement, signal=signal_of(level.mechanism, measured, listed))
    return Release.of(estimates, listed, statement, published)


def listed_in(request: Request, level: RequestedLevel, measurements: Measurements) -> Locations | None:
    """The public list; where places were selected, the selection has made one."""
    if isinstance(request.locations, SelectLocations):
        return Locations(measurements.locations)
    return level.locations


def rehearse_inference(request: Request, publication: Publication, progress: Progress | None = None) -> None:
    """Raise ReleaseError if no release could be made of this public input; it is tried on invented numbers.

    It takes as long as the inference, and is left out where no public input but ids enters that.
    """
    levels = [level for level in request.levels if _leans_on_public_input(request, level)]
    if not levels or (publication.begun and request.series is None):  # there is nothing left to save
        return
    if progress is not None:
        progress("Trying the inference on invented numbers", None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is worth a warning will be told of the real numbers
            for level in levels:
                _rehearse(request, level)
    except Exception as error:  # public input may hold anything
        raise ReleaseError(_refused(request, publication, error)) from error


def _leans_on_public_input(request: Request, level: RequestedLevel) -> bool:
    """Whether more than ids enters the inference: earlier releases, attributes or coordinates."""
    return level.locations is not None and (
        request.series is not None or bool(level.locations.attribute_names)
    )


def _rehearse(request: Request, level: RequestedLevel) -> None:
    assert level.locations is not None  # noqa: S101
    measurements = level.mechanism.measure(InventedQueries(level.locations), level.locations, InventedNoise())
    kept = KeptMeasurements.of(_INVENTED_ID, measurements, level.mechanism, level.locations)
    stated = request.statement(_INVENTED_ID, None, tuned=False, level=level)
    # Nothing that anybody could take for a release: it has no guarantee, and is of no other level.
    none = Guarantee.none("invented numbers")
    inferred(request, level, kept, replace(stated, guarantee=none, levels=(), level=None))


def _refused(request: Request, publication: Publication, error: Exception) -> str:
    """Why nothing is drawn, and what would work."""
    told = str(error) if isinstance(error, ReleaseError) else f"No values can be computed ({_words(error)})."
    if request.series is None:
        return (
            f"{told} That was tried on invented numbers, so nothing was spent: is something wrong with the attributes "
            "or coordinates of the list of places?"
        )
    last = request.series.last.directory
    return (
        f"after={str(last)!r} (--after {last}): {told} To see whether it, or one before it, was changed: locentropy "
        f"verify {quote(str(last))}. {WITHOUT if publication.begun else 'Nothing was spent.'}"
    )


def check_unsaved(request: Request, *, counted: bool) -> None:
    """Raise for what needs a directory that keeps what was drawn."""
    if request.without_series or (request.after is not None and counted):
        raise ParameterError(
            "is for a release that is saved: out names its directory, which keeps what was drawn, whatever the earlier "
            "releases do to the values.",
            parameter="without_series" if request.without_series else "after",
            example='publish(visits, Shares(epsilon=1.0), PublicLocations(["pier"]), ledger="city.ledger", out="may")',
        )


def check_without_series(request: Request, target: Path, *, begun: bool, staged: Statement | None) -> None:
    """Raise unless this attempt may end as is asked: with its series, or without it."""
    if staged is not None and (staged.without_series is not None) != request.without_series:
        option = "without --without-series" if request.without_series else "with --without-series"
        raise ParameterError(
            f"An earlier attempt has the release for {target} on disk, complete, and needs only its name. Repeat the "
            f"call {option}."
        )
    if request.without_series and not begun:
        raise ParameterError(
            f"finishes an attempt that has spent and cannot use its series, and none has begun for {target}. To "
            "publish a release of its own, leave out after (--after), too.",
            parameter="without_series",
        )


def _words(error: Exception) -> str:
    return str(error).removesuffix(".") if isinstance(error, LocentropyError) else type(error).__name__

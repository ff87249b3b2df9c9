"""Faults in publishing: in the wrong order, for the wrong price, twice, or with more than the noisy numbers."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from locentropy.core.locations import Locations
from locentropy.evaluation.advice import paid_survey
from locentropy.ledger.accounts import Cap
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.listed_estimates import std_error
from locentropy.mechanisms.paper import limit
from locentropy.mechanisms.paper.limit import Limit
from locentropy.mechanisms.paper.limit_ss import LimitSS
from locentropy.mechanisms.select import SelectLocations
from locentropy.privacy.guarantee import Guarantee
from locentropy.publishing import publication_file, publish
from locentropy.publishing.publication import Publication
from locentropy.publishing.request import Request
from locentropy.release.release import Release
from locentropy_lab.audit.mutation.planting import Change, Fault, PredictableNoise

_COMPUTED: Final = "what is published is computed from noisy numbers alone"


def _drawn_while_rehearsing(true: Any) -> Any:
    def rehearse(request: Any, asked: Any) -> None:
        true(request, asked)
        main = request.levels[0]
        main.mechanism.measure(asked[0], main.locations, vars(publish)["OpenDPNoise"]())

    return rehearse


_TELLING_NOBODY: Final = (
    Change(Publication, "record_draw", lambda _: lambda self, ledger: None),
    Change(Ledger, "record_release", lambda _: lambda self, spend, release, state: None),
)
"""The ledger, which would refuse by itself what other checks are to find, is told of no release."""


def _unpaid(_: Any) -> Any:
    def pay(self: Publication, ledger: Any, guarantee: Any, purpose: str, window: Any = None) -> None:
        self.begun = True

    return pay


def _with_private_error_bar() -> tuple[Change, ...]:
    """`measure` keeps the private scales beside the noisy values, `estimate` publishes them."""

    def keeping(true: Any) -> Any:
        def measure(self: LimitSS, queries: Any, locations: Any, noise: Any) -> Any:
            measured = true(self, queries, locations, noise)
            scales = self.scales(queries.profile(self.bounds).user_counts)
            return replace(measured, values={**measured.values, "scales": np.rint(scales).astype(np.int64)})

        return measure

    def telling(true: Any) -> Any:
        def estimate(self: LimitSS, measurements: Any, locations: Any) -> Any:
            errors = [std_error(float(scale)) for scale in measurements.values["scales"]]
            return replace(true(self, measurements, locations), std_error=np.array(errors))

        return estimate

    return Change(LimitSS, "measure", keeping), Change(LimitSS, "estimate", telling)


def _only_visited() -> tuple[Change, ...]:
    """`measure` leaves out locations that nobody visited, and `estimate` publishes what was measured."""

    def leaving_out(true: Any) -> Any:
        def measure(self: Limit, queries: Any, locations: Any, noise: Any) -> Any:
            measured = true(self, queries, locations, noise)
            visited = queries.profile(self.bounds).user_counts > 0
            return replace(
                measured,
                locations=measured.locations.filter(pa.array(visited)),
                values={name: values[visited] for name, values in measured.values.items()},
            )

        return measure

    def unlisted(true: Any) -> Any:
        return lambda self, measurements, locations: true(self, measurements, None)

    return Change(Limit, "measure", leaving_out), Change(Limit, "estimate", unlisted)


def _surveyed_while_rehearsing(true: Any) -> Any:
    def rehearse(survey: Any, queries: Any, **more: Any) -> None:
        true(survey, queries, **more)
        survey.measure(queries, Locations(queries.locations), vars(paid_survey)["OpenDPNoise"]())

    return rehearse


def _with_a_head_count() -> tuple[Change, ...]:
    """One function counts people, and another writes the number into the statement."""
    heads = [0]

    def counting(true: Any) -> Any:
        def cross(request: Any, asked: Any, noise: Any) -> Any:
            heads[0] = int(asked[0].locations_per_user().sum())
            return true(request, asked, noise)

        return cross

    def telling(true: Any) -> Any:
        def statement(self: Request, *given: Any, **more: Any) -> Any:
            said = true(self, *given, **more)
            return replace(said, description=f"{said.description} Of {heads[0]} people.")

        return statement

    return Change(publish, "_cross", counting), Change(Request, "statement", telling)


def _forgetting_measurements() -> tuple[Change, ...]:
    """Measurements are read by the attempt that kept them, and by no later one."""
    own: list[Publication] = []

    def keeping(true: Any) -> Any:
        def keep(self: Publication, kept: Any) -> None:
            own.append(self)
            true(self, kept)

        return keep

    def reading(true: Any) -> Any:
        return lambda self: true(self) if any(each is self for each in own) else None

    return (
        Change(Publication, "keep", keeping),
        Change(Publication, "measurements", reading),
        Change(Publication, "refuse_second_draw", lambda _: lambda self, ledger: None),
        *_TELLING_NOBODY,
    )


FAULTS: Final = (
    Fault(
        "ledger written after noise",
        "who stops the process in between has numbers that nobody paid for",
        "the spend is on disk before noise is drawn",
        (Change(publish, "_rehearse", _drawn_while_rehearsing),),
    ),
    Fault(
        "a release that nobody pays for",
        "the budget is never used up",
        "without budget nothing is drawn",
        (
            Change(Publication, "pay", _unpaid),
            Change(publish, "ledger_note", lambda _: lambda book, spend: None),
            *_TELLING_NOBODY,
        ),
    ),
    Fault(
        "a budget that is not a limit",
        "spends are noted, and never refused",
        "without budget nothing is drawn",
        (Change(Cap, "admits", lambda _: lambda self, charged: True),),
    ),
    Fault(
        "price of the selection forgotten",
        "choosing places is paid for by nobody",
        "what is guaranteed is what is spent",
        (Change(SelectLocations, "followed_by", lambda _: lambda self, guarantee: guarantee),),
    ),
    Fault(
        "δ paid for by nobody",
        "the ledger takes ε and forgets δ, as if it were free",
        "what is guaranteed is what is spent",
        (
            Change(
                Publication,
                "pay",
                lambda true: (
                    lambda self, ledger, guarantee, purpose, window=None: true(
                        self, ledger, Guarantee.pure(guarantee.epsilon), purpose, window
                    )
                ),
            ),
        ),
    ),
    Fault(
        "a survey drawn before it is paid for",
        "who stops the process in between has statistics that nobody paid for",
        "a survey is paid for before it is drawn",
        (Change(paid_survey, "_rehearse", _surveyed_while_rehearsing),),
    ),
    Fault(
        "a head count in the description",
        "how many people there are, to the last one, in words",
        "files say nothing of the data beside the noisy numbers",
        _with_a_head_count(),
    ),
    Fault(
        "an interrupted attempt forgotten",
        "a retry draws again, and two draws tell more than one",
        "a retry spends once and draws once",
        (Change(publication_file, "_read", lambda _: lambda handle, path: None),),
    ),
    Fault(
        "kept measurements not read again",
        "whatever fails after the noise, a retry draws again, and two draws tell more than one",
        "whatever fails after the noise, a retry has the same numbers",
        _forgetting_measurements(),
    ),
    Fault(
        "an id that belongs to the attempt",
        "a copy of an interrupted attempt draws again under the same spend, and both releases verify",
        "one spend pays for one draw",
        (
            Change(Publication, "refuse_second_draw", lambda _: lambda self, ledger: None),
            *_TELLING_NOBODY,
        ),
    ),
    Fault(
        "files of somebody else used",
        "who planted the record of an attempt decides what is paid for, and reads what is written",
        "files of somebody else are not used",
        (
            Change(
                publication_file,
                "open_own_file",
                lambda _: (
                    lambda path, create: os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
                ),
            ),
        ),
    ),
    Fault(
        "predictable noise called private",
        "anybody who knows the seed takes the noise off again",
        "no guarantee where there is none",
        (Change(limit, "is_private", lambda _: lambda noise: True),),
    ),
    Fault(
        "a release that takes any noise",
        "nothing stands between an experiment and a publication",
        "predictable noise is not published",
        (
            Change(
                Release,
                "of",
                lambda true: (
                    lambda shown, places, statement, kept: true(
                        replace(shown, private=True), places, statement
                    )
                ),
            ),
        ),
    ),
    Fault(
        "the same noise for every release",
        "what was published once can be subtracted from what is published next",
        "two releases of one table differ",
        (
            Change(limit, "is_private", lambda _: lambda noise: True),
            Change(publish, "OpenDPNoise", lambda _: PredictableNoise),
        ),
    ),
    Fault(
        "error bar of Limit-SS published",
        "its noise is a function of how many people were there",
        _COMPUTED,
        _with_private_error_bar(),
    ),
    Fault(
        "only visited places published",
        "a place that appears was visited, if by one person only",
        _COMPUTED,
        _only_visited(),
    ),
)

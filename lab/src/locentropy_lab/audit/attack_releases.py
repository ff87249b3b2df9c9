"""An attack on whole releases: neighbours are published from files, and the resulting tables are told apart.

The attacker knows nothing of the mechanism, only where the user may be. A third of the releases train a rule: Fisher's
linear discriminant of the published numbers of a location, the same for all locations where the user may be, clipped to
its usual values with and without the user, since with Laplace noise larger ones tell no more. The others are counted.
Every release is made by `publish` as everybody calls it: read from a Parquet file by the engine, checked, bounded,
noised by OpenDP, post-processed, and made a `Release`.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.parquet as pq

from locentropy import publish
from locentropy.core.estimates import COLUMNS
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.paper.limit import Limit
from locentropy.places.public_list import PublicLocations
from locentropy.private import measure_activity
from locentropy.publishing.notices import PublishingWarning
from locentropy.visits.visits import Visits
from locentropy_lab.audit.confidence import CONFIDENCE, Attack, attack, training
from locentropy_lab.audit.neighbours import ONE_THREAD, Town, visits_of
from locentropy_lab.audit.parallel import parts, spread
from locentropy_lab.audit.search import worst_crowds
from locentropy_lab.audit.subjects import SELECTION, SURVEY, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from locentropy.privacy.guarantee import Guarantee
    from locentropy.release.release import Release
    from locentropy_lab.audit.subjects import Subject

    Reals = NDArray[np.float64]

FOLLOWED_BY: Final = Limit(epsilon=0.1, max_locations=1, max_visits=1)
"""What is published about selected locations; its cost comes on top of the selection's."""

_ELSEWHERE: Final = 3
"""The last locations of the list, where the user is not."""


def town_for(subject: Subject) -> Town:
    """Neighbours as a table: M locations like the worst, and a user who is in all of them."""
    made = Town()
    if subject.by_place:
        without, with_user = worst_crowds(subject)
        guest = {}
        for before, after in zip(without, with_user, strict=True):
            [place] = made.places(1)
            made.crowd(place, before)
            [guest[place]] = [visits for visits in after if after[visits] != before.get(visits, 0)]
    else:
        many = subject.max_locations if subject.name == SURVEY else 1
        edge = made.places(many)
        for place in edge:
            made.crowd(place, {1: getattr(subject.holder, "busy_users", 4) - 1})
        guest = dict.fromkeys(edge, 4)
    # Locations without the user: Shares needs more than one location, and no release is empty.
    for place in made.places(_ELSEWHERE):
        made.crowd(place, {1: 4, 2: 2})
    made.guest("somebody", guest)
    return made


def attack_on_releases(
    subject: Subject,
    runs: int,
    *,
    processes: int = 2,
    confidence: float = CONFIDENCE,
    fault: str | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[Attack, int]:
    """Attack this many releases, both neighbours together, with the named fault planted if there is one."""
    each = runs // 2
    with _files(subject) as (files, listed):
        about = subject.name, subject.holder, listed
        jobs = [(*about, files[side], many) for many in parts(each) for side in (0, 1)]
        done = list(spread(published_tables, jobs, processes, progress, fault))
    without, with_user = (np.concatenate(done[side::2]) for side in (0, 1))
    scores = _scores(with_user, without)
    return attack(*scores, float(release_guarantee(subject).delta), confidence), 2 * each


def release_guarantee(subject: Subject) -> Guarantee:
    """The guarantee of whole releases: what follows a selection costs extra."""
    if subject.name != SELECTION:
        return subject.guarantee
    both: Guarantee = subject.holder.followed_by(FOLLOWED_BY.guarantee)
    return both


@contextmanager
def _files(subject: Subject) -> Iterator[tuple[tuple[str, str], int]]:
    """The neighbours as Parquet files."""
    made = town_for(subject)
    with TemporaryDirectory(prefix="locentropy-audit-") as folder:
        names = (f"{folder}/without.parquet", f"{folder}/with.parquet")
        for name, people in zip(names, (made.without("somebody"), made.people), strict=True):
            pq.write_table(visits_of(people).source, name)
        yield names, made.listed


def published_tables(name: str, holder: Any, listed: int, file: str, many: int) -> Reals:
    """Publish `many` times; returns a row of numbers for each release and each location where the user may be."""
    subject = subject_of(name, holder)
    publish_once = _survey if name == SURVEY else _release
    return np.stack([publish_once(subject, file, listed) for _ in range(many)])


def _release(subject: Subject, file: str, listed: int) -> Reals:
    places: Any = PublicLocations(list(range(listed)), provenance="made up for an audit")
    mechanism = subject.holder
    if subject.name == SELECTION:
        places, mechanism = subject.holder, FOLLOWED_BY
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PublishingWarning)  # nobody's data, and no ledger
        release = publish(
            Visits(file), mechanism, places, resources=ONE_THREAD, ledger=None, large_epsilon=True
        )
    return _numbers(release, listed)


def _numbers(release: Release, listed: int) -> Reals:
    """All published numbers of the locations where the user may be, and whether there is one at all."""
    table = release.to_arrow()
    at = np.array([int(place) for place in table["location"].to_pylist()], dtype=np.int64)
    numbers = np.zeros((listed, 1 + len(COLUMNS)))
    for column, name in enumerate(COLUMNS, start=1):
        if name in table.column_names:
            values = table[name].to_numpy()
            numbers[at, column] = np.nan_to_num(values)
            numbers[at, 0] = ~np.isnan(values)
    return numbers[:-_ELSEWHERE]


def _survey(subject: Subject, file: str, listed: int) -> Reals:
    """The statistics for advice, which are paid for through a ledger."""
    places = PublicLocations(list(range(listed)), provenance="made up for an audit")
    # Beside the file, in the folder of the process that started this one and will take it away.
    with TemporaryDirectory(dir=Path(file).parent) as folder:
        ledger = Ledger.create(Path(folder) / "audit.ledger", "made up for an audit", epsilon=1)
        found = measure_activity(
            Visits(file, user="user"), places, subject.holder, ledger=ledger, resources=ONE_THREAD
        )
    return np.array([[*found.places, *found.visits, found.busy]], dtype=np.float64)


def _scores(with_user: Reals, without: Reals) -> tuple[Reals, Reals]:
    """How much each release speaks for the user, added up over its locations."""
    trained = [training(side.T).T for side in (with_user, without)]
    rule = _rule(*trained)
    most, least = (float((side @ rule).mean()) for side in trained)
    likely, other = (np.clip(side @ rule, least, most).sum(axis=1) for side in (with_user, without))
    return likely, other


def _rule(likely: Reals, other: Reals) -> Reals:
    """How much each published number of a place counts: Fisher's discriminant, all places and releases together."""
    columns = likely.shape[-1]
    apart = likely.mean(axis=(0, 1)) - other.mean(axis=(0, 1))
    spread = sum(
        np.cov((each - each.mean(axis=0)).reshape(-1, columns), rowvar=False) for each in (likely, other)
    )
    # Numbers that never vary, or follow from others, leave the equations open; whichever never varies and yet differs
    # gives everything away, and gets a large weight by this.
    ridge = 1e-9 * max(1e-3, float(np.trace(np.atleast_2d(spread))))
    rule: Reals = np.linalg.solve(np.atleast_2d(spread) + ridge * np.eye(columns), apart)
    return rule

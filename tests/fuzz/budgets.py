"""Ledgers, plans and claims."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import locentropy as le
from locentropy.ledger import store as ledger_store
from locentropy.ledger.entries import Entry
from locentropy.ledger.parts import Part
from locentropy.ledger.terms import Terms
from locentropy.planning import plan_file
from locentropy.privacy.guarantee import Guarantee
from locentropy.publishing.publication_file import locked_publication

LEDGER_ID, SPENDS = "0" * 32, ["1" * 32, "2" * 32, "3" * 32]
_STAMP = {"software": "locentropy 0", "time": "2026-01-01T00:00:00+00:00"}


def ledger_entries() -> Iterator[Entry]:
    amounts = {"epsilon": "4", "delta": "0.000001"}
    yield Entry("budget", {"id": LEDGER_ID, "population": "riders", **amounts, **_STAMP})
    for spend in SPENDS:
        yield Entry("spend", {"id": spend, "epsilon": "0.5", "delta": "0", "purpose": "map", **_STAMP})
    staged = {"spend": SPENDS[0], "release": "4" * 32, "state": "staged", "time": _STAMP["time"]}
    yield Entry("release", staged)
    yield Entry("evaluation", {"note": "compared", **_STAMP})


def windowed_entries() -> Iterator[Entry]:
    """The same in the second version of the file: with terms, and a part before each spend."""
    window = le.Window("2026-05", zone="Europe/Berlin", hours="07-10")
    for entry in ledger_entries():
        if entry.kind == "spend":
            part = Part(entry.values["id"], Guarantee.pure("0.5"), window)
            yield Entry("part", part.as_values())
        yield entry
        if entry.kind == "budget":
            yield Entry("rules", {**Terms().as_values(), **_STAMP})


def ledger_seeds() -> list[bytes]:
    return [ledger_of(ledger_entries()), ledger_of(windowed_entries())]


def ledger_of(entries: Iterator[Entry]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "city.ledger"
        ledger_store.create(path, next(entries))
        for entry in entries:
            with ledger_store.transaction(path, wait=1, write=True) as store:
                store.append(entry)
        return path.read_bytes()


def read_ledger(folder: Path, content: bytes) -> None:
    """Whatever opens has forgotten nothing, and takes a further spend."""
    path = folder / "city.ledger"
    path.write_bytes(content)
    ledger = le.Ledger.open(path, wait=1)
    book = ledger.read()
    assert [spend.id for spend in book.spends] == SPENDS, "a spend was lost, and nobody noticed"
    assert float(book.spent.epsilon) == 1.5
    assert float(book.total.epsilon) == 4
    assert book.evaluations
    ledger.spend(Guarantee.pure(1), "one more")
    assert float(ledger.verify(SPENDS).spent.epsilon) == 2.5


def plan_seeds() -> list[bytes]:
    about = le.About(title="Map of May", curator="City", intended_use="bus lines")
    plans = [
        le.plan(le.Shares(1), n_locations=400, n_users=3000, about=about),
        le.plan(
            le.Moments(0.5, max_locations=5, max_visits=5, max_users=1000),
            n_locations=3,
            users_per_location=[1, 5, 50],
        ),
        le.plan(le.LimitPTR(1, delta=1e-6, max_locations=5, max_visits=5, min_users=20)),
        le.plan(le.paper.LimitCB(1, max_locations=5, max_visits=5, min_users=50, accept_no_guarantee=True)),
        le.plan(
            le.paper.Limit(1, max_locations=5, max_visits=5),
            locations="selection",
            selection=le.SelectLocations(0.5, delta=1e-6, max_locations=5),
        ),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.yaml"
        made = []
        for each in plans:
            plan_file.write(each, path)
            made.append(path.read_bytes())
        return made


def read_plan(folder: Path, content: bytes) -> None:
    path = folder / "plan.yaml"
    path.write_bytes(content)
    found = plan_file.read(path)
    plan_file.write(found, folder / "again.yaml")
    again = plan_file.read(folder / "again.yaml")
    assert (again.guarantee, again.mechanism, again.about) == (found.guarantee, found.mechanism, found.about)


ORDER = {"ledger": "none", "mechanism": "Limit", "title": "Map"}


def claim_seeds() -> list[bytes]:
    return [json.dumps({"spend": "5" * 32, "release": "6" * 32, "order": ORDER}).encode()]


def read_claim(folder: Path, content: bytes) -> None:
    path = folder / ".may.publishing"
    path.touch(mode=0o600)
    path.write_bytes(content)
    with locked_publication(folder / "may", ORDER, None) as claim:
        assert re.fullmatch("[0-9a-f]{32}", claim.spend_id)
        assert claim.release_id is None, "nothing was drawn"
        assert not claim.begun, "nothing was spent, and nothing is there"

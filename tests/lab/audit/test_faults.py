"""Every fault of the catalogue is caught by its check, no check complains without one, and nothing stays planted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from locentropy.mechanisms.paper import limit
from locentropy_lab.audit import report
from locentropy_lab.audit.mutation.catalogue import CATALOGUE, CHECKS, run_checks, try_fault
from locentropy_lab.audit.mutation.planting import Change, Fault

PAGE = Path(__file__).parents[3] / "docs" / "audit.md"
BY_NAME = {fault.name: fault for fault in CATALOGUE}


@pytest.mark.parametrize("name", BY_NAME)
def test_the_fault_is_caught_by_the_check_that_is_named(name: str) -> None:
    fault = BY_NAME[name]
    before = [vars(change.where).get(change.name) for change in fault.changes]
    tried = try_fault(fault)
    assert tried.stopped_on == ""
    assert tried.complaints, f"{fault.caught_by} does not see it"
    assert tried.caught
    assert [vars(change.where).get(change.name) for change in fault.changes] == before, (
        "nothing stays planted"
    )


@pytest.mark.parametrize("name", CHECKS)
def test_no_check_complains_without_a_fault(name: str) -> None:
    assert run_checks([name]) == {name: ()}


def test_the_catalogue_is_large_and_names_each_fault_once() -> None:
    assert len(CATALOGUE) >= 50
    assert len(BY_NAME) == len(CATALOGUE)


def test_every_check_is_there_for_a_fault_and_every_fault_has_a_check() -> None:
    assert {fault.caught_by for fault in CATALOGUE} == set(CHECKS)


def test_a_check_that_stops_has_caught_nothing() -> None:
    """Planted so clumsily that nothing works: no check gets credit for that."""
    clumsy = Fault("clumsy", "", "cost of crowds, limit", (Change(limit, "laplace_scale", lambda _: None),))
    tried = try_fault(clumsy)
    assert tried.stopped_on == "TypeError"
    assert not tried.caught


def test_a_harmless_change_is_not_caught() -> None:
    more = Change(limit, "laplace_scale", lambda true: lambda *given: true(*given) * 2)
    assert not try_fault(Fault("twice the noise", "", "cost of crowds, limit", (more,))).caught


def test_the_page_lists_the_catalogue() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("<!-- the catalogue -->")[2].partition("\n\n")[0]
    rows = [tuple(re.split(r" *\| *", line.strip("| "))) for line in table.strip().splitlines()]
    assert rows[0] == report.FAULTS
    assert rows[2:] == report.fault_rows(CATALOGUE)
    assert f"All {len(CATALOGUE)} faults are caught, and none of the {len(CHECKS)} checks complains" in text

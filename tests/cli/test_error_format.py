"""Errors of the Python interface, as the command line tells them."""

from __future__ import annotations

import pytest

from locentropy.cli import error_format as wording
from locentropy.core.errors import ParameterError


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("epsilon='abc' must be a decimal number.", "--epsilon abc must be a decimal number."),
        (
            "threads=0: expected a whole number. A correct call: Resources(threads=2)",
            "--threads 0: expected a whole number. For example: --threads 2",
        ),
        (
            "bad_rows='x' is not one of 'fail', 'drop'. For example: Visits(\"a.csv\", bad_rows='drop')",
            "--bad-rows x is not one of 'fail', 'drop'. For example: --bad-rows drop",
        ),
        (
            "locations=-3: no. A correct call: advise(epsilon=1.0, locations=14_058, people=10_000)",
            "--locations -3: no. For example: --epsilon 1.0 --locations 14058 --people 10000",
        ),
        (
            "cell=0.0 must be above 0. For example: Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=500)",
            "--cell 0.0 must be above 0. For example: --grid 40.70,-74.03,40.80,-73.92 --cell 500",
        ),
        ('memory=\'1X\' is no amount. For example: memory="2GB" (--memory 2GB)', "--memory 1X is no amount. For example: --memory 2GB"),
        ("publication_date='x' is no day. For example: publication_date='2026-11-15'", "--date x is no day. For example: --date 2026-11-15"),
        ("Say by what: delimiter=';' (--delimiter ';').", "Say by what: --delimiter ';'."),
        ("Say so: not_private=True (--not-private); it is marked.", "Say so: --not-private; it is marked."),
        ("It has ε = 4, δ = 1e-6 left.", "It has ε = 4, δ = 1e-6 left."),
    ],
)  # fmt: skip
def test_parameters_become_options(said: str, told: str) -> None:
    assert wording.in_options(said) == told


def test_an_example_takes_the_place_of_a_call() -> None:
    with (
        pytest.raises(ParameterError, match=r"^places_kind='x' is wrong\. For example: --here$"),
        wording.example("--here", places="places_kind"),
    ):
        raise ParameterError("places='x' is wrong. A correct call: plan(places='grid')")

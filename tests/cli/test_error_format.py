"""Errors about parameters, as the command line tells them: their parts as options, nothing else touched."""

from __future__ import annotations

import pytest

from locentropy.cli.error_format import EXAMPLES, as_command, as_options, in_options, restated
from locentropy.core.errors import ParameterError

OPTIONS = {
    "mechanism": "--mechanism",
    "epsilon": "--epsilon",
    "delta": "--delta",
    "max_locations": "--max-locations",
    "max_visits": "--max-visits",
    "min_users": "--min-users",
    "threads": "--threads",
    "bad_rows": "--bad-rows",
    "missing_ids": "--missing-ids",
    "delimiter": "--delimiter",
    "publication_date": "--date",
    "not_private": "--not-private",
    "grid": "--grid",
    "cell": "--cell",
    "places": "--places",
    "ledger": "--ledger",
    "select_epsilon": "--select-epsilon",
    "select_delta": "--select-delta",
    "select_max_locations": "--select-max-locations",
}
PUBLISH = "locentropy publish checkins.parquet"
REST = "--places places.csv --ledger city.ledger --out may"


@pytest.mark.parametrize(
    ("error", "said", "told"),
    [
        (ParameterError("Nothing to name."), "Nothing to name.", "Nothing to name."),
        (
            ParameterError("must be a decimal number.", parameter="epsilon", value="abc"),
            "epsilon='abc' must be a decimal number.",
            "--epsilon abc must be a decimal number.",
        ),
        (
            ParameterError("is too long.", parameter="publication_date"),
            "publication_date is too long.",
            "--date is too long.",
        ),
        (
            ParameterError("must be above 0.", parameter="threads", value=0, example="Resources(threads=2)"),
            "threads=0 must be above 0. For example: Resources(threads=2)",
            f"--threads 0 must be above 0. For example: {PUBLISH} --epsilon 1 {REST} --threads 2",
        ),
        (
            ParameterError("is not one of them.", parameter="delimiter", value="; ;"),
            "delimiter='; ;' is not one of them.",
            "--delimiter '; ;' is not one of them.",
        ),
        (
            ParameterError("is for others.", parameter="not_private", value=True),
            "not_private=True is for others.",
            "--not-private is for others.",
        ),
        (
            ParameterError("must be above 0.", parameter="sensitivity", value=1, example="f(sensitivity=2)"),
            "sensitivity=1 must be above 0. For example: f(sensitivity=2)",
            "sensitivity=1 must be above 0. For example: f(sensitivity=2)",
        ),
        (
            ParameterError("It says epsilon='x' (see Limit(epsilon=1))."),
            "It says epsilon='x' (see Limit(epsilon=1)).",
            "It says epsilon='x' (see Limit(epsilon=1)).",
        ),
    ],
)
def test_parts_become_options_and_words_stay(error: ParameterError, said: str, told: str) -> None:
    assert str(error) == said
    assert as_options(error, "publish", OPTIONS) == told


@pytest.mark.parametrize(
    ("call", "command"),
    [
        ("Shares(epsilon=0.5)", f"{PUBLISH} --epsilon 0.5 {REST}"),
        (
            "Limit(epsilon=1.0, max_locations=5, max_visits=5)",
            f"{PUBLISH} --mechanism limit --epsilon 1.0 {REST} --max-locations 5 --max-visits 5",
        ),
        (
            "LimitPTR(epsilon=1.0, delta=1e-8, min_users=50)",
            f"{PUBLISH} --mechanism limit-ptr --epsilon 1.0 --ledger city.ledger --out may --delta 1e-8 --min-users 50",
        ),
        (
            "Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=500)",
            f"{PUBLISH} --epsilon 1 --ledger city.ledger --out may --grid 40.70,-74.03,40.80,-73.92 --cell 500",
        ),
        (
            "plan(Shares(epsilon=2), selection=SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20))",
            f"{PUBLISH} --epsilon 2 --ledger city.ledger --out may --select-epsilon 0.2 --select-delta 1e-8 "
            "--select-max-locations 20",
        ),
        (
            'Visits("a b.csv", delimiter=";")',
            f"locentropy publish 'a b.csv' --epsilon 1 {REST} --delimiter ';'",
        ),
        ("locentropy verify release", "locentropy verify release"),
        ("not Python at all", f"{PUBLISH} --epsilon 1 {REST}"),
        ("Resources(nothing=1)", f"{PUBLISH} --epsilon 1 {REST}"),
    ],
)
def test_a_call_becomes_a_command(call: str, command: str) -> None:
    assert as_command(call, "publish", OPTIONS) == command


def test_a_command_without_an_example_of_its_own_shows_the_call() -> None:
    assert "verify" not in EXAMPLES
    assert as_command("verify('release')", "verify", {}) == "verify('release')"


def test_numbers_are_written_as_options_take_them() -> None:
    options = {
        "n_locations": "--n-locations",
        "users_per_location": "--users-per-location",
        "mechanism": "-m",
    }
    call = "plan(n_locations=14_058, users_per_location=[1, 5, 50])"
    assert as_command(call, "plan", options) == (
        "locentropy plan --epsilon 1 --n-locations 14058 --users-per-location 1,5,50"
    )


def test_a_parameter_may_have_another_name_here() -> None:
    with (
        pytest.raises(
            ParameterError, match=r"^--select-epsilon 0 must be above 0\. For example: locentropy pub.* 0\.3 "
        ),
        in_options("publish", OPTIONS),
        restated(prefix="select_", example="SelectLocations(epsilon=0.3, delta=1e-8, max_locations=20)"),
    ):
        raise ParameterError(
            "must be above 0.", parameter="epsilon", value=0, example="SelectionCurve(epsilon=1)"
        )
    with pytest.raises(ParameterError, match=r"^spend=0 must"), restated(names={"epsilon": "spend"}):
        raise ParameterError("must be above 0.", parameter="epsilon", value=0)


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), in_options("publish", OPTIONS), restated(prefix="x"):
        raise KeyError

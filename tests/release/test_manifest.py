"""manifest.yaml is an entry of the registry, and a true and complete statement to somebody who has only it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

import locentropy as le
from locentropy.core.strict_yaml import dump_document
from locentropy.privacy.guarantee import Guarantee
from locentropy.release.details import details
from locentropy.release.manifest import heading, manifest, numbers

from .making import LEDGER, NONE, parameters, statement
from .registry_schema import SCHEMA

SS = le.paper.LimitSS(1.0, delta=1e-8, max_locations=5, max_visits=5)
CB = le.paper.LimitCB(1.0, max_locations=5, max_visits=5, min_users=50, accept_no_guarantee=True)

STATEMENTS = {
    "limit": {},
    "everything": {
        "ledger": LEDGER,
        "tuned_unaccounted": True,
        "sector": "Government",
        "publication_date": "2026-11-15",
        "expected_error": "about 0.4 nats",
        "entropy_unit": "bits",
    },
    "limit-ss": {"guarantee": SS.guarantee, "mechanism": "LimitSS", "parameters": parameters(SS)},
    "limit-cb": {"guarantee": CB.guarantee, "mechanism": "LimitCB", "parameters": parameters(CB)},
    "simulated": {"guarantee": NONE},
    "selection": {"locations_source": "private selection with epsilon = 0.2, delta = 1e-8"},
    "unknown": {"mechanism": "SomethingNew", "parameters": {}, "max_users": None},
    "thirds": {"guarantee": Guarantee.approximate(Fraction(1, 3), Fraction(1, 7 * 10**9))},
}
each = pytest.mark.parametrize("changes", STATEMENTS.values(), ids=STATEMENTS)


def test_the_schema_can_fail():
    Draft7Validator.check_schema(SCHEMA)
    good = manifest(statement())
    for bad in ({"extra": 1}, {"tier": 4}, {"deployment": {}}, {"status": None}):
        assert not Draft7Validator(SCHEMA).is_valid(good | bad)


@each
def test_it_is_an_entry_of_the_registry(changes):
    made = statement(**changes)
    read = yaml.safe_load(dump_document(manifest(made), heading(made)))
    assert read == manifest(made)
    Draft7Validator(SCHEMA).validate(read)
    assert isinstance(read["deployment"]["basic"]["publication_date"], str)


@each
def test_it_says_everything_that_there_is_to_say(changes):
    made = statement(**changes)
    text = " ".join(dump_document(manifest(made), heading(made)).decode().replace("''", "'").split())
    for words in (made.title, made.curator, made.description, made.region, made.mechanism, made.release_id):
        assert words in text
    for words in (made.locations_source, made.locations_provenance, made.software_version):
        assert words in text
    for public in made.guarantee.public_inputs:
        if public.name != "locations":
            assert str(public) in text
    for name, value in made.parameters.items():
        assert f"{name} = {value}" in text
    assert "neighbours when one holds all visits of one more user" in text
    assert f"the {made.estimand} entropy" in text
    assert "clipped" in text
    assert "rounded" in text
    if made.private:
        assert made.intended_use in text
        assert "Plain sums" in text
        assert "whole record" in text


def deployment(**changes):
    return manifest(statement(**changes))["deployment"]


@pytest.mark.parametrize(
    ("guarantee", "variant", "numbers_said"),
    [
        (Guarantee.pure("0.1"), "Pure DP", {"epsilon": 0.1}),
        (Guarantee.approximate(1, "1e-8"), "Approximate DP", {"epsilon": 1.0, "delta": 1e-8}),
        (NONE, "Custom", None),
    ],
)
def test_numbers_and_variant(guarantee, variant, numbers_said):
    said = deployment(guarantee=guarantee)
    assert said["dp_variant"]["variant_name"] == variant
    assert said["privacy_loss"].get("privacy_parameters") == numbers_said


@given(st.fractions(0, 100), st.fractions(0, 1).filter(lambda x: x < 1))
def test_numbers_are_never_below_the_exact_ones(epsilon, delta):
    said = numbers(Guarantee(epsilon, delta))
    assert Fraction(repr(said["epsilon"])) >= epsilon
    assert Fraction(repr(said.get("delta", 0.0))) >= delta
    assert said["epsilon"] == pytest.approx(float(epsilon), rel=1e-15)


def test_without_a_ledger_it_says_so_and_with_one_what_it_says():
    without = deployment()["accounting"]["composition"].lower()
    assert "no ledger: this release was not counted against any budget of these people" in without
    said = deployment(ledger=LEDGER)["accounting"]["composition"]
    for words in (LEDGER.population, LEDGER.spend_id, "ε = 4, δ = 1e-6", "ε = 1.3, δ = 0 of it are spent"):
        assert words in said


def test_tuning_is_confessed():
    part = "preprocessing_and_hyperparameter_tuning"
    said = deployment(tuned_unaccounted=True, ledger=LEDGER)["implementation"][part]
    assert "parameters tuned on the data, unaccounted" in said
    assert "records no evaluation" in deployment(ledger=LEDGER)["implementation"][part]
    assert "not recorded" in deployment()["implementation"][part]


def test_a_check_of_the_input_is_told_apart_from_tuning():
    part, words = "preprocessing_and_hyperparameter_tuning", "compared ids, dates and dropped rows"
    checked = deployment(ledger=replace(LEDGER, input_checked=True))["implementation"][part]
    assert words in checked
    assert "tuned" not in checked
    assert words not in deployment(ledger=LEDGER)["implementation"][part]


def test_a_missing_guarantee_is_said_as_such():
    said = deployment(guarantee=NONE)
    assert said["basic"]["name"].startswith("NOT PRIVATE")
    assert "not for publication" in said["basic"]["intended_use"]
    assert "There is no guarantee for anybody" in said["privacy_loss"]["privacy_unit_details"]
    assert "simulated" in said["privacy_loss"]["privacy_parameters_details"]
    assert said["dp_variant"]["unprotected_quantities"].startswith("Everything")
    assert "Differentially private with" not in yaml.safe_dump(said)


def test_a_missing_date_is_not_made_up():
    assert deployment()["basic"]["publication_date"] == "unset"
    assert b"publication_date: '2026-11-15'" in dump_document(
        manifest(statement(publication_date="2026-11-15")), ""
    )


def test_columns_are_described_for_what_they_are():
    columns = ["location", "entropy", "effective_visitors", "std_error", "low", "high"]
    said = details(statement(entropy_unit="bits"), columns, 3, {})["table"]["columns"]
    assert list(said) == columns
    assert "bits" in said["entropy"]
    assert "not a number of people" in said["effective_visitors"]


def test_where_the_list_comes_from_is_said_once_if_at_all():
    said = [
        deployment(locations_provenance=words)["dp_variant"]["unprotected_quantities"]
        for words in ("the register", "not stated", "public list")
    ]
    assert "(public list; the owner says: the register)" in said[0]
    assert "(public list; its origin is not stated)" in said[1]
    assert "(public list)" in said[2]


@pytest.mark.parametrize("delta", [0, "1e-8"])
def test_what_holds_between_two_records_of_one_person_is_said_everywhere(delta):
    guarantee = Guarantee.approximate(1, delta) if delta else Guarantee.pure(1)
    replaced = guarantee.for_replaced_record()
    stated = statement(guarantee=guarantee)
    said = manifest(stated)["deployment"]["privacy_loss"]["privacy_parameters_details"]
    assert "after seeing this release" in said
    assert "any release" not in said
    assert "Between two possible records of one person (where they went, how often, with whom)" in said
    assert guarantee.explain_groups() in said
    document = details(stated, ["location"], 3, {})["guarantee"]
    assert document["for_one_person"] == guarantee.explain()
    assert document["for_others"] == guarantee.explain_groups()
    assert document["for_two_records_of_one_person"] == {
        "epsilon": "2",
        "delta": "3.71829e-8" if delta else "0",
    }
    assert Fraction(document["for_two_records_of_one_person"]["delta"]) == replaced.delta


def test_what_was_done_with_missing_ids_is_said_where_it_is_known():
    def said(**known):
        deployment = manifest(statement(parameters={"max_locations": "5", **known}))["deployment"]
        return deployment["implementation"]["preprocessing_and_hyperparameter_tuning"]

    assert said(missing_ids="drop").startswith(
        "Rows without a user id (empty, nan, NULL, None, NA, n/a) are left out, each by itself; how many is not told."
    )
    assert said(missing_ids="keep").startswith("The owner says that user ids such as nan")
    assert "user id" not in said()

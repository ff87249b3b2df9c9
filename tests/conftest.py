from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.examples import AT_NIGHT, PROFILE

# The engine's first query in a process takes far longer than the later ones; a deadline would flake.
settings.register_profile("ci", max_examples=40, deadline=None, derandomize=bool(os.environ.get("CI")))
settings.register_profile("nightly", max_examples=1000, deadline=None)
settings.load_profile(PROFILE)

SLOW = (
    # Servers, browsers, processes that are killed, attacks and large data:
    "faults/",
    "fuzz/",
    "lab/",
    "ledger/test_ledger_crash.py",
    "publishing/test_crash.py",
    "publishing/test_one_way.py",
    "publishing/test_race.py",
    "release/report/test_browser.py",
    "release/report/test_language.py",
    "release/report/test_saving.py",
    "visits/test_engine.py",
    "visits/warehouses/",
    # Whole ways through the commands, and all that documents show:
    "cli/test_advise_command.py::TestWithoutData",
    "cli/test_advise_command.py::TestWithBudget",
    "cli/test_advise_command.py::test_stopped_after_the_spend_it_says_so",
    "cli/test_demo.py",
    "cli/test_evaluate_command.py::test_on_screen",
    "cli/test_examples_in_messages.py",
    "cli/test_lazy_commands.py",
    "publishing/test_language.py::test_the_commands",
    "publishing/test_previous.py::test_the_same_noise_gives_the_same_numbers",
    "test_documentation.py",
    "test_examples_in_messages.py",
    "test_peers.py",
    "test_site.py",
    # Many tables through the engine, many draws, many places:
    "evaluation/advice/test_advisor.py::TestPublicNumbers::test_always_something_that_can_be_run",
    "evaluation/test_compare.py::TestFiles",
    "evaluation/test_compare.py::TestWithoutMatplotlib",
    "evaluation/test_compare.py::test_nothing_imports_matplotlib_before_pictures_are_drawn",
    "mechanisms/shares/test_inference.py::test_answers_that_contradict_each_other_are_survived",
    "mechanisms/shares/test_inference.py::test_places_in_another_order_have_the_same_values",
    "mechanisms/shares/test_inference_statistics.py",
    "mechanisms/shares/test_privacy.py::test_users_of_every_size_on_a_coarse_lattice",
    "mechanisms/shares/test_visitor_prior.py::test_whatever_is_seen_there_is_a_law",
    "mechanisms/test_moments_estimator.py::test_intervals_hold_the_entropy_for_every_number_of_users",
    "mechanisms/test_neighbouring_tables.py",
    "mechanisms/test_survey.py::TestThroughTheEngine",
    "places/test_places.py::TestRestriction",
    "planning/test_plan.py::test_expected_error_is_the_largest_over_all_entropies",
    "planning/test_plan_moments.py::test_simulated_errors_keep_below_and_reach_the_expected_one",
    "release/report/test_page.py::test_a_hundred_thousand_are_all_shown",
    "release/report/test_page.py::test_long_texts_do_not_make_it_too_large",
    "release/report/test_ranking.py::test_chances_come_true_as_often_as_they_say",
    "release/report/test_ranking.py::test_longer_lists_give_the_same_law",
    "visits/test_bad_input.py::TestIds::test_two_spellings_of_one_id",
    "visits/test_others_rows.py",
    "visits/test_profile.py::test_equals_the_reference_on_counted_rows",
    "visits/test_profile.py::test_several_bounds_in_one_pass_equal_one_by_one",
    "visits/test_profile.py::test_whole_numbers_and_the_same_as_texts_agree",
    "visits/test_shares.py::TestReference::test_any_resources",
    "visits/test_shares.py::TestReference::test_ibis_tables",
    "visits/test_shares.py::TestReference::test_lists_and_what_is_restricted_later",
    "visits/test_sources.py::test_columns_are_told_apart_however_many_there_are",
)
"""How the names of slow tests begin, those of `QUICK` excepted; other tests may have the mark themselves.

In `make quick` every package and every mechanism's privacy check stays.
"""

QUICK = (
    "faults/test_identifiers.py::test_ids_on_both_sides",
    "faults/test_ledger_faults.py",
    "faults/test_private_values.py::test_what_the_engine_says_is_for_the_private_log",
    "fuzz/test_found.py",
    "lab/audit/test_confidence.py",
    "lab/audit/test_privacy_loss.py",
    "lab/reproduction/test_claims.py",
    "lab/test_as_printed.py",
    "lab/test_distributions.py",
    "lab/test_zipf.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is slow, and puts first what shares a server: workers without work take tests from the end."""
    here = Path(__file__).parent
    for item in items:
        name = f"{item.path.relative_to(here).as_posix()}{item.nodeid[item.nodeid.find('::') :]}"
        if name.startswith(SLOW) and not name.startswith(QUICK):
            item.add_marker("slow")
        longer = is_hypothesis_test(getattr(item, "obj", None)) or item.get_closest_marker("longer_at_night")
        if AT_NIGHT and longer:
            item.add_marker("nightly")  # once more, with many examples
    items.sort(key=lambda item: "warehouses" not in item.path.parts)


@pytest.fixture
def private_log() -> Iterator[list[str]]:
    """What the private log is told."""
    from locentropy.visits.private_log import PRIVATE_LOG

    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    PRIVATE_LOG.addHandler(handler)
    yield records
    PRIVATE_LOG.removeHandler(handler)


@pytest.fixture(scope="session")
def gowalla() -> Path:
    """The paper's real data set, which is never part of this repository."""
    name = os.environ.get("LOCENTROPY_GOWALLA")
    if not name:
        pytest.skip("LOCENTROPY_GOWALLA does not name the Gowalla New York file")
    return Path(name)


@pytest.fixture(scope="session")
def cities() -> Path:
    """A folder of real cities with categories of places, which are never part of this repository."""
    name = os.environ.get("LOCENTROPY_CITIES")
    if not name:
        pytest.skip("LOCENTROPY_CITIES does not name the folder of Foursquare cities")
    return Path(name)

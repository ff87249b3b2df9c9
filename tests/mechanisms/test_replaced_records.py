"""Which record, not only whether: two records of one person cost up to twice ε through the real mechanism, never more."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.mechanisms.moments.mechanism import Moments
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.paper import Limit
from locentropy_lab.audit.mutation.guarantee_checks import RECORDS, replaced_loss
from locentropy_lab.audit.neighbours import asked
from locentropy_lab.audit.privacy_loss import components, exact_loss
from locentropy_lab.audit.subjects import Subject, at_defaults, law_of, subject_of
from tests.examples import examples

PLACES = 12
REGULARS = {place: {place: visits} for place, visits in enumerate([1, 1, 2, 3, 5, 5, 1, 2, 9, 1])}
SUBJECTS = {
    "limit": subject_of("limit", Limit(0.7, max_locations=2, max_visits=3)),
    "moments": subject_of("moments", Moments(0.7, max_locations=2, max_visits=3)),
    "shares": subject_of("shares", Shares(0.7)),
}
records = st.dictionaries(st.integers(0, PLACES - 1), st.sampled_from([1, 2, 3, 16, 1000]), max_size=6)


def lost(subject: Subject, *each: dict[int, int]) -> Fraction:
    """The loss, exactly, between tables in which one person has these records; without an entry there is no person."""
    laws = []
    for record in each:
        with asked(REGULARS | ({99: record} if record else {}), PLACES) as queries:
            laws.append(law_of(subject, queries))
    loss = exact_loss(components(*laws))
    assert loss is not None
    return loss


@pytest.mark.parametrize("name", RECORDS)
def test_two_records_reach_twice_epsilon_and_no_more(name: str) -> None:
    subject = at_defaults(name)
    epsilon = subject.guarantee.epsilon
    assert Fraction(19, 10) * epsilon < replaced_loss(subject) <= 2 * epsilon
    assert subject.guarantee.for_replaced_record().epsilon == 2 * epsilon


@pytest.mark.parametrize("name", SUBJECTS)
@given(here=records, there=records)
@settings(max_examples=examples(4, nightly=160))
def test_no_two_records_cost_more(name: str, here: dict[int, int], there: dict[int, int]) -> None:
    subject = SUBJECTS[name]
    assert lost(subject, here, {}) <= subject.guarantee.epsilon
    assert lost(subject, here, there) <= subject.guarantee.for_replaced_record().epsilon


@pytest.mark.parametrize("name", SUBJECTS)
@given(mine=records, theirs=records)
@settings(max_examples=examples(3, nightly=100))
def test_an_id_that_two_people_share_costs_each_of_them_up_to_twice(
    name: str, mine: dict[int, int], theirs: dict[int, int]
) -> None:
    """Without one of them, the id has another record."""
    together = {place: mine.get(place, 0) + theirs.get(place, 0) for place in mine.keys() | theirs.keys()}
    subject = SUBJECTS[name]
    assert lost(subject, together, theirs) <= subject.guarantee.for_replaced_record().epsilon


def test_a_shared_id_is_not_protected_by_epsilon_alone() -> None:
    """Whoever pushes out the places of the other moves twice as many places as one person may."""
    subject = SUBJECTS["limit"]
    theirs = {0: 1, 1: 1}
    together = theirs | {6: 3, 9: 3}
    assert lost(subject, together, theirs) > subject.guarantee.epsilon


@pytest.mark.parametrize("name", SUBJECTS)
def test_two_people_together_cost_up_to_twice(name: str) -> None:
    subject = SUBJECTS[name]
    laws = []
    for people in (REGULARS, REGULARS | {98: {0: 3, 1: 3}, 99: {6: 3, 9: 3}}):
        with asked(people, PLACES) as queries:
            laws.append(law_of(subject, queries))
    loss = exact_loss(components(*laws))
    assert subject.guarantee.epsilon < loss <= subject.guarantee.for_group(2).epsilon

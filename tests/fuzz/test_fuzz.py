"""No input makes a reader crash, hang or grow without bound: it is accepted, or refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import examples
from tests.fuzz.running import Outcome, fed, keep
from tests.fuzz.targets import TARGETS

INPUTS = {
    "csv": 25,
    "german": 30,
    "json lines": 25,
    "workbook": 30,
    "parquet": 30,
    "documents": 30,
    "table": 40,
    "data package": 20,
    "geopackage": 30,
}
"""The same each time, for readers that take longer than others; more at night. `make fuzz` takes others, and its time."""


@pytest.mark.longer_at_night
@pytest.mark.parametrize("reader", TARGETS)
def test_hostile_input(reader: str, tmp_path: Path) -> None:
    usual = INPUTS.get(reader, 100)
    inputs = examples(usual, nightly=4 * usual)
    outcome = fed(reader, seed=0, inputs=inputs)
    keep(outcome, tmp_path / "findings")
    assert not outcome.findings, f"{outcome}: see {tmp_path / 'findings'}\n{outcome.findings}"
    assert outcome.accepted + outcome.refused.total() == inputs
    assert outcome.accepted, "some of the inputs are good"
    assert outcome.refused, "and some are not"


@pytest.mark.parametrize("reader", TARGETS)
def test_inputs_depend_on_nothing_but_seed_and_number(reader: str) -> None:
    target = TARGETS[reader]
    assert [target.input(0, number) for number in range(5)] == [
        target.input(0, number) for number in range(5)
    ]
    assert target.seeds() == target.seeds()
    assert len({target.input(seed, 1) for seed in range(5)}) > 1


class TestTheFuzzingCanFind:
    """Readers with planted faults."""

    @staticmethod
    def found(fault: str, patience: float = 60.0) -> Outcome:
        made = fed(fault, 0, 60.0, targets="tests.fuzz.faulty", patience=patience, most_findings=2)
        assert len(made.findings) >= 2, "it goes on behind what it has found"
        return made

    @pytest.mark.parametrize(
        ("fault", "words"),
        [
            ("careless", "ZeroDivisionError"),
            ("hungry", "MemoryError"),
            ("growing", "grew by"),
            ("dying", "code -6"),
        ],
    )
    def test_faults(self, fault: str, words: str) -> None:
        findings = self.found(fault).findings
        assert any(words in what for what in findings.values()), findings

    def test_a_reader_that_hangs(self) -> None:
        made = self.found("hanging", patience=1.0)
        assert all(what.startswith("hangs") for what in made.findings.values())

    def test_the_input_is_kept(self, tmp_path: Path) -> None:
        outcome = Outcome("plan", 3, findings={17: "what it did"})
        keep(outcome, tmp_path / "findings")
        assert (tmp_path / "findings" / "plan-3-17").read_bytes() == TARGETS["plan"].input(3, 17)
        assert (tmp_path / "findings" / "plan-3-17.txt").read_text() == "what it did"

"""The lists of slow and quick tests name tests that are there: a name that nothing has would mark nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import QUICK, SLOW


@pytest.mark.parametrize("name", [*SLOW, *QUICK])
def test_there_is_such_a_test(name: str) -> None:
    path, *parts = name.split("::")
    file = Path(__file__).parent / path
    assert file.exists()
    for part in parts:
        assert any(
            f"{kind} {part.partition('[')[0]}" in file.read_text(encoding="utf-8")
            for kind in ("def", "class")
        )

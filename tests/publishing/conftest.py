from __future__ import annotations

import tempfile

import pytest


@pytest.fixture(autouse=True)
def own_spill_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed process leaves behind stays among the tests' own files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("spill")))  # for processes that are started
    monkeypatch.setattr(tempfile, "tempdir", None)  # for this one: look again

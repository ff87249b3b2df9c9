"""A release shown at a prompt."""

from __future__ import annotations

from .making import not_private, release


def test_a_release_is_shown_in_a_line() -> None:
    made = release()
    assert (
        repr(made) == str(made) == "<Release 'Busy places: May': 3 places, ε = 0.3, δ = 0, entropy in nats>"
    )
    assert "NOT PRIVATE" in repr(not_private())

"""JSON in a page: arrays of numbers are written by Arrow, and read as Python would have written them."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.core.html import script_json

NUMBERS = (
    st.none()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.0, -0.0, 1.0, 1e-5, 1e21])
)


@given(st.lists(NUMBERS))
def test_arrays_are_read_as_lists(numbers: list[float | None]) -> None:
    here = {"name": "a", "columns": {"id": ["</script>"], "value": pa.array(numbers, pa.float64())}}
    read = json.loads(script_json(here))
    assert read == {"name": "a", "columns": {"id": ["</script>"], "value": numbers}}
    assert "<" not in script_json(here)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_json_has_no_number_for_is_refused(number: float) -> None:
    for value in ([number], pa.array([number]), {"columns": pa.array([1.0, number])}):
        with pytest.raises(ValueError, match="JSON"):
            script_json(value)

"""Well-known binary by somebody else: whether it is safe to hand to GEOS.

GEOS follows shapes within shapes within shapes until the process ends. A map has no use for these.
"""

from __future__ import annotations

import struct
from typing import Final

_POLYGON: Final = 3
"""The kinds up to this one are a single shape: a point, a line, a polygon. Three more is several of a kind."""
_SYSTEM: Final = 1 << 29
_EXTRA: Final = ((1 << 31, (1, 3)), (1 << 30, (2, 3)))
"""How a height is marked, and how a measure is: by a bit, or by the thousands of the kind."""


def is_flat(shape: bytes) -> bool:
    """Whether it is one shape, or several of one kind; struct.error or IndexError if it ends too early."""
    order, kind, _, at = _header(shape, 0)
    if kind <= _POLYGON:
        return kind > 0
    if kind > 2 * _POLYGON:
        return False
    parts = _count(shape, order, at)
    at += 4
    for _ in range(parts):
        if _header(shape, at)[1] != kind - _POLYGON:
            return False
        at = _end(shape, at)
    return True


def _end(shape: bytes, at: int) -> int:
    """Where a single shape ends that begins here."""
    order, kind, corner, at = _header(shape, at)
    if kind < _POLYGON:
        return at + (corner if kind == 1 else 4 + corner * _count(shape, order, at))
    rings = _count(shape, order, at)
    at += 4
    for _ in range(rings):
        at += 4 + corner * _count(shape, order, at)
    return at


def _header(shape: bytes, at: int) -> tuple[str, int, int, int]:
    """The order of bytes, the kind, the bytes of a corner, and where the content begins."""
    order = {0: ">", 1: "<"}.get(shape[at])
    if order is None:
        return "<", 0, 0, at
    code = _count(shape, order, at + 1)
    thousands, kind = divmod(code & 0xFFFF, 1000)
    numbers = 2 + sum(bool(code & bit) or thousands in marks for bit, marks in _EXTRA)
    return order, kind, 8 * numbers, at + (9 if code & _SYSTEM else 5)


def _count(shape: bytes, order: str, at: int) -> int:
    [count] = struct.unpack_from(f"{order}I", shape, at)
    return int(count)

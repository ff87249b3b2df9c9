"""Spellings of ids: what `--ids text,trim,fold` makes of an id, the same in every engine and in Python.

    text  ids are compared as they are written, numbers too
    trim  without blanks at either end: U+0009 to U+000D, U+0020, U+00A0, U+200B and U+FEFF
    fold  with small letters for capital ones, by the table below

Each is a function of one id and of nothing else, and the table is written down here, so that no version of Python, of
an engine or of Unicode changes who counts as one person. A letter becomes one letter; accents stay.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

AS_THEY_ARE: Final = "as-they-are"
TEXT: Final = "text"
_EXAMPLE: Final = 'Visits("checkins.csv", ids="text,trim,fold")'

BLANKS: Final = (*range(9, 14), 0x20, 0xA0, 0x200B, 0xFEFF)
"""What is taken off by `trim`."""
_CAPITALS: Final = (
    (0x41, 0x5A, 1, 32),  # A to Z
    (0xC0, 0xD6, 1, 32),  # Latin-1, without ×
    (0xD8, 0xDE, 1, 32),
    (0x100, 0x12E, 2, 1),  # Latin Extended-A, without the dotted I
    (0x132, 0x136, 2, 1),
    (0x139, 0x147, 2, 1),
    (0x14A, 0x176, 2, 1),
    (0x178, 0x178, 1, -121),
    (0x179, 0x17D, 2, 1),
    (0x218, 0x21A, 2, 1),  # Romanian
    (0x386, 0x386, 1, 38),  # Greek
    (0x388, 0x38A, 1, 37),
    (0x38C, 0x38C, 1, 64),
    (0x38E, 0x38F, 1, 63),
    (0x391, 0x3A1, 1, 32),
    (0x3A3, 0x3AB, 1, 32),
    (0x400, 0x40F, 1, 80),  # Cyrillic
    (0x410, 0x42F, 1, 32),
    (0x490, 0x490, 1, 1),
    (0x1E9E, 0x1E9E, 1, 0xDF - 0x1E9E),  # the capital sharp s
)
"""Capital letters from the first to the last, each so many further, and how far it is to the small one."""


def _letters() -> Iterator[tuple[str, str]]:
    for first, last, step, to_small in _CAPITALS:
        for capital in range(first, last + 1, step):
            yield chr(capital), chr(capital + to_small)


CAPITAL, SMALL = ("".join(letters) for letters in zip(*_letters(), strict=True))
"""The letters that `fold` replaces, and those that it puts in their places."""
_FOLDED: Final = str.maketrans(CAPITAL, SMALL)


@dataclass(frozen=True)
class Spelling:
    """How ids are spelled before they are compared."""

    text: bool = False
    """Whether numbers are compared as they are written; implied by the others."""
    trim: bool = False
    fold: bool = False

    @classmethod
    def of(cls, ids: Any) -> Spelling:
        """The spelling that a list of words, or a text with commas between them, asks for."""
        words = ids.split(",") if isinstance(ids, str) else ids
        if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
            words = [""]
        said = [word.strip() for word in words]
        if said == [AS_THEY_ARE]:
            return cls()
        if not said or set(said) - {TEXT, "trim", "fold"} or len(set(said)) < len(said):
            raise ParameterError(
                f"is neither {AS_THEY_ARE} nor a list of text, trim and fold.",
                parameter="ids",
                value=ids,
                example=_EXAMPLE,
            )
        return cls(text=True, trim="trim" in said, fold="fold" in said)

    def __str__(self) -> str:
        said = [word for word in (TEXT, "trim", "fold") if getattr(self, word)]
        return ",".join(said) or AS_THEY_ARE

    @property
    def changes(self) -> bool:
        """Whether two texts that differ can be one id."""
        return self.trim or self.fold

    def spelled(self, ids: pa.Array) -> pa.Array:
        """The ids as they are compared."""
        if not self.changes:
            return ids
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = ids.cast(pa.string())
        if self.trim:
            ids = pc.utf8_trim(ids, characters="".join(map(chr, BLANKS)))
        if self.fold:
            ids = pa.array(
                [None if each is None else each.translate(_FOLDED) for each in ids.to_pylist()], pa.string()
            )
        return ids

    def keys(self, listed: pa.Array) -> pa.Array:
        """The ids of a list as they are compared; ParameterError if two become one, or one becomes none."""
        keys = self.spelled(listed)
        if not self.changes:
            return keys
        import pyarrow.compute as pc

        if pc.any(pc.equal(keys, "")).as_py():
            raise ParameterError(
                f"An id of the list is nothing but blanks, so with ids={str(self)!r} nothing is left of it."
            )
        if len(pc.unique(keys)) < len(keys):
            texts = keys.to_pylist()
            shared = next(text for text, times in Counter(texts).items() if times > 1)
            one, other = [str(listed[at].as_py()) for at, text in enumerate(texts) if text == shared][:2]
            raise ParameterError(
                f"The listed ids {one!r} and {other!r} become one with ids={str(self)!r} (--ids {self}). Take one of "
                "them off the list, or compare ids as they are written: --ids text."
            )
        return keys

    def as_listed(self, ids: pa.Array, listed: pa.Array) -> pa.Array:
        """The ids in the spelling of a list where they are on it, else as they are."""
        if not self.changes:
            return ids
        import pyarrow as pa
        import pyarrow.compute as pc

        at = pc.index_in(self.spelled(ids), value_set=self.spelled(listed))
        known = listed.cast(pa.string()).take(at)
        return pc.unique(pc.coalesce(known, ids.cast(pa.string())))


AS_STORED: Final = Spelling()
"""Ids are compared by type and value."""

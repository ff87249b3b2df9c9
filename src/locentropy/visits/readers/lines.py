"""Lines of text files, where rows that break a rule are dropped: each line is a row, and is read by itself.

Claim: what one line holds decides nothing about another one.

Why: a quotation mark opens a field that may run on to the next mark, over the lines of other people, and a line that
ends unlike the others stops the engine. So where bad rows are dropped, no field runs over several lines: a line is
sound if every field that begins with a mark ends with one on this line, and no carriage return is within it. Files
whose lines are all sound, and end alike, are read in place; of others the sound lines are copied into the engine's own
folder. What a sound line holds, and whether it has as many fields as there are columns, the engine finds out by itself.
JSON lines have no such marks, but are not read either where they hold a carriage return or are longer than 2 MB.
"""

from __future__ import annotations

import codecs
import os
import re
import zlib
from itertools import count
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import SourceError
from locentropy.visits.private_log import Dropped, log_dropped
from locentropy.visits.readers.encodings import damaged, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CHUNK: Final = 1 << 20
_LONGEST: Final = 1 << 23
"""Bytes. The engine passes over lines of 2 MB by itself, but errs where they are much longer."""
_LONGEST_UNQUOTED: Final = 1 << 21
"""Bytes of a line without marks: of JSON lines the engine would take longer ones or stop, by where they stand."""
_COPIES: Final = count()


def sound_copy(
    path: Path,
    content: Path,
    delimiter: str,
    quote: str,
    scratch: Path,
    header: int = 0,
    mark: bytes = codecs.BOM_UTF8,
) -> Path | None:
    """A copy of the sound lines of a file; None if all are sound and end alike.

    `content` is the file as it is read, `header` the number of lines up to and with its header, and `mark` what the
    engine passes over at the beginning.
    """
    sound = _sound(delimiter, quote)
    try:
        if _all_are_sound(content, sound, mark):
            return None
        copy = scratch / f"lines-{next(_COPIES)}.txt"
        handle = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        fits, at, dropped = re.compile(sound).fullmatch, 0, 0
        with os.fdopen(handle, "wb") as target:
            for lines in _whole_lines(content, mark):
                for line in lines.split(b"\n")[:-1]:
                    at += 1
                    if fits(line):
                        target.write(line.removesuffix(b"\r") + b"\n")
                    elif at <= header:
                        raise SourceError(
                            f"{path}: a quotation mark in the header is not closed on its line. Fix it."
                        )
                    else:
                        dropped += 1
    except (EOFError, OSError, zlib.error) as error:
        raise damaged(path, error) from None
    if dropped:
        log_dropped(
            str(path), Dropped(dropped, "lines with an open quotation mark, or that end unlike others", None)
        )
    return copy


def _sound(delimiter: str, quote: str) -> bytes:
    """A regular expression of a sound line without its line feed."""
    sign = re.escape(delimiter).encode()
    if not quote:
        return rb"[^\r\n]{0,%d}+\r?" % _LONGEST_UNQUOTED
    # As the engine reads it, a field is also quoted if a blank precedes the mark; with more blanks it errs.
    field = rb'(?: ?"(?:[^"\r\n]|"")*+" *|(?! *")[^\r\n' + sign + rb"]*+)"
    return field + rb"(?:" + sign + field + rb")*+\r?"


def _all_are_sound(content: Path, sound: bytes, mark: bytes) -> bool:
    """Whether the file can be read in place."""
    fit = re.compile(rb"(?:" + sound + rb"\n)*+").fullmatch
    lines = with_return = 0
    for chunk in _whole_lines(content, mark):
        if not fit(chunk):
            return False
        lines, with_return = lines + chunk.count(b"\n"), with_return + chunk.count(b"\r")
    return with_return in (0, lines)


def _whole_lines(content: Path, mark: bytes) -> Iterator[bytes]:
    """The bytes of a file, cut after line feeds, without a mark at the beginning."""
    with opened(content) as file:
        rest, chunk = b"", file.read(_CHUNK).removeprefix(mark)
        while chunk:
            lines, feed, last = chunk.rpartition(b"\n")
            if feed:
                yield rest + lines + feed
                rest = b""
            rest += last
            if len(rest) > _LONGEST:
                rest = b"\r\r"  # is no sound line either, and takes no memory
            chunk = file.read(_CHUNK)
        if rest:
            yield rest + b"\n"

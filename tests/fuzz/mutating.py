"""Inputs that are almost right: made from good ones by a few changes, the same for the same seed.

Texts are changed by their words, lines and punctuation, so that most of what is made is still a table, a mapping or a
list, only with something odd in it. Binary files are changed by their bytes, and every second time near their end, where
Parquet keeps what it says about itself.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence
from random import Random

WORDS = [
    b"", b"0", b"-1", b"1.5", b"007", b"7.0", b"1e400", b"-1e-400", b"nan", b"inf", b"NULL", b"true", b"yes", b"~",
    b"9223372036854775807", b"-9223372036854775809", b"18446744073709551616", b"9" * 400, b"1:30:00", b"1" + b":1" * 999,
    b"2020-02-30", b"2020-01-01T00:00:00Z", b"infinity", b"epoch", b"294247-01-11", b"1/0", b"1/3", b"0x7f", b"1_0",
    b" ", b"\t", b"\r", b"\n", b"\r\n", b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3\x28", "\u202e\u2028é🙂".encode(), b"e\xcc\x81",
    b",", b";", b"|", b":", b": ", b"- ", b"? ", b"|\n", b">\n", b"[", b"]", b"{", b"}", b"[" * 2000, b"{a: " * 300, b"[" * 5,
    b'"', b'""', b"'", b'"\n"', b"\\", b"\\x", b"#", b"%YAML 9.9\n", b"---\n", b"...\n", b"&a ", b"*a", b"<<: ", b"!!int ",
    b"!!binary ", b"!!bool ", b"!!float ", b"!!timestamp ", b"!!omap ", b"!!set ", b"!x ", b"=1+1", b"../../x", b"x" * 70_000,
    b"user", b"location", b"time", b"visits", b"lat", b"lon", b"name", b"epsilon", b"files", b"shares", b"limit", b"none",
]  # fmt: skip
"""What has surprised readers before."""

_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
_EXTREMES = [
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFFFFFF,
    0xFFFFFFFF,
    0x7FFFFFFFFFFFFFFF,
    0xFFFFFFFFFFFFFFFF,
]
_CHANGES = [1, 1, 1, 2, 2, 3, 6]
"""How many: after one a file is often still read to its end, after many it hardly ever is."""
LARGEST = 1 << 18
"""Bytes: long enough for what grows faster than its size, short enough to be read often."""

Mutator = Callable[[Sequence[bytes], Random], bytes]


def text(seeds: Sequence[bytes], draw: Random) -> bytes:
    """A text with some words, lines or bytes other than they were; sometimes compressed."""
    content = draw.choice(seeds)
    for _ in range(draw.choice(_CHANGES)):
        change = draw.choice([_word, _word, _word, _line, _line, _bytes])
        content = change(content, seeds, draw)[:LARGEST]
    if draw.random() < 0.03:
        content = gzip.compress(content, mtime=0)
        return _bytes(content, seeds, draw) if draw.random() < 0.5 else content
    return content


def binary(seeds: Sequence[bytes], draw: Random) -> bytes:
    """A binary file with some bytes other than they were."""
    content = draw.choice(seeds)
    for _ in range(draw.choice(_CHANGES)):
        content = _bytes(content, seeds, draw)[:LARGEST]
    return content


def _word(content: bytes, seeds: Sequence[bytes], draw: Random) -> bytes:
    tokens = _TOKEN.findall(content) or [b""]
    at = draw.randrange(len(tokens))
    way = draw.randrange(4)
    if way == 0:
        tokens[at] = draw.choice(WORDS)
    elif way == 1:
        tokens.insert(at, draw.choice(WORDS))
    elif way == 2:
        tokens[at] = draw.choice(_TOKEN.findall(draw.choice(seeds)) or [b""])
    else:
        del tokens[at]
    return b"".join(tokens)


def _line(content: bytes, seeds: Sequence[bytes], draw: Random) -> bytes:
    lines = content.split(b"\n")
    at, other = draw.randrange(len(lines)), draw.choice(draw.choice(seeds).split(b"\n"))
    way = draw.randrange(5)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(at, other)
    elif way == 2:
        lines[at] = other
    elif way == 3:
        lines[at] = b" " * draw.randrange(9) + lines[at].lstrip()
    else:
        lines[at : at + 1] = [lines[at]] * draw.choice([2, 3, 50])
    return b"\n".join(lines)


def _bytes(content: bytes, seeds: Sequence[bytes], draw: Random) -> bytes:
    if not content:
        return draw.choice(WORDS)
    # Near the end every second time: there Parquet keeps its columns, types and sizes.
    first = max(0, len(content) - 600) if draw.random() < 0.5 else 0
    at = draw.randrange(first, len(content))
    span = draw.choice([1, 1, 1, 2, 4, 8, draw.randrange(1, 200)])
    before, after = content[:at], content[at + span :]
    way = draw.randrange(8)
    if way == 0:
        return before + bytes([content[at] ^ (1 << draw.randrange(8))]) + content[at + 1 :]
    if way == 1:
        return before + draw.randbytes(span) + after
    if way == 2:
        width = draw.choice([1, 2, 4, 8])
        extreme = draw.choice(_EXTREMES) & ((1 << 8 * width) - 1)
        return before + extreme.to_bytes(width, draw.choice(["little", "big"])) + content[at + width :]
    if way == 3:
        return before + after
    if way == 4:
        return before + content[at : at + span] * 2 + after
    if way == 5:
        other = draw.choice(seeds)
        start = draw.randrange(len(other) or 1)
        return before + other[start : start + span] + after
    if way == 6:
        return before + bytes(span) + after
    return before if draw.random() < 0.3 else before + draw.choice(WORDS) + content[at:]

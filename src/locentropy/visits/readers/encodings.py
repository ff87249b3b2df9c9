"""Encodings of text files: UTF-8 is assumed and checked, others are recognised and offered, and read if they are named.

No encoding is taken because the bytes look like it: they are somebody's rows, and one of them would decide how all are
read. For the same reason only encodings are read in which what a byte means does not depend on earlier lines: in hz or
iso2022_jp a row can switch the letters of the rows after it. The engine reads UTF-8; a file in another encoding is
first copied as UTF-8 into the engine's own folder, which only its owner can read and which is removed at the end.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import zlib
from itertools import count
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from locentropy.core.errors import ParameterError, SourceError
from locentropy.visits.readers.files import is_gzip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UTF8: Final = "utf-8"
_CHUNK: Final = 1 << 20
_NOT_CP1252: Final = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
"""Bytes that mean nothing in cp1252."""
_CALLED: Final = {
    "utf-16": 'UTF-16, as Excel\'s "Unicode text"',
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "the encoding of Windows in Western Europe and of Excel's CSV",
    "latin-1": "ISO 8859-1",
}
_COPIES: Final = count()
_STATELESS: Final = frozenset(
    (
        "utf-8 utf-8-sig ascii utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be "
        "iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 "
        "iso8859-11 iso8859-13 iso8859-14 iso8859-15 iso8859-16 "
        "cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 "
        "cp437 cp720 cp737 cp775 cp850 cp852 cp855 cp856 cp857 cp858 cp860 cp861 cp862 cp863 cp864 cp865 cp866 cp869 "
        "cp874 cp1006 cp1125 cp037 cp273 cp424 cp500 cp875 cp1026 cp1140 "
        "koi8-r koi8-t koi8-u kz1048 ptcp154 tis-620 mac-arabic mac-croatian mac-cyrillic mac-farsi mac-greek "
        "mac-iceland mac-latin2 mac-roman mac-romanian mac-turkish "
        "big5 big5hkscs cp932 cp949 cp950 euc_jp euc_jis_2004 euc_jisx0213 euc_kr gb18030 gb2312 gbk johab "
        "shift_jis shift_jis_2004 shift_jisx0213"
    ).split()
)
"""Python's names of encodings in which no line changes how another one is read."""
_WITH_MARK: Final = ("utf-16", "utf-32")
"""Encodings whose order of bytes is told by a mark at the beginning."""
_UNREADABLE: Final = "locentropy-unreadable"
codecs.register_error(_UNREADABLE, lambda error: ("\udc80", error.end))  # type: ignore[attr-defined]


def encoding_named(name: Any, parameter: str = "encoding") -> str:
    """The encoding of that name; ParameterError if it is not one that is read."""
    try:
        known = codecs.lookup(name)
    except (LookupError, TypeError, ValueError):
        known = None
    if known is None or known.name not in _STATELESS:
        raise ParameterError(
            "is not read. It must be an encoding that Python knows, and in which every line can be read by itself. "
            "Usual ones: utf-8, cp1252, latin-1, utf-16.",
            parameter=parameter,
            value=name,
            example='Visits("checkins.csv", encoding="utf-8")',
        )
    return UTF8 if known.name in ("utf-8", "utf-8-sig", "ascii") else known.name


def opened(path: Path) -> BinaryIO:
    """A file, decompressed if it is gzip."""
    file: Any = gzip.GzipFile(path) if is_gzip(path) else path.open("rb")
    return cast("BinaryIO", file)


def damaged(path: Path, error: BaseException) -> SourceError:
    """The error for a file that cannot be read to its end."""
    reason = getattr(error, "strerror", None) or "the file is incomplete or damaged"
    return SourceError(f"{path}: cannot be read ({reason}).")


def as_utf8(
    path: Path,
    encoding: str,
    scratch: Path,
    prefix: str = "--",
    *,
    has_header: bool = True,
    drop_bad: bool = False,
) -> Path:
    """A copy of a file in UTF-8, in a folder that only its owner can read; SourceError if it is in another encoding.

    Where bad rows are dropped, what cannot be read of a line is no UTF-8 in the copy either, so that the engine drops
    the line. Without a header the first bytes are somebody's row, and are not asked for a mark.
    """
    if not has_header and encoding in _WITH_MARK:
        raise ParameterError(
            f"{path}: the first bytes of {encoding} state its order, and without a header they may be a visit. "
            f'Say it: encoding="{encoding}-le" (--encoding {encoding}-le), as programs on Windows write it, or '
            f"{encoding}-be."
        )
    if has_header and next(_chunks(path), b"").startswith(codecs.BOM_UTF8):
        raise SourceError(
            f"{path}: begins with the mark of UTF-8, and {encoding} was said. Leave that out, or say utf-8: "
            'encoding="utf-8" (--encoding utf-8; of a list of places --places-encoding utf-8)'
        )
    copy = scratch / f"utf8-{next(_COPIES)}.txt"
    decoder = codecs.getincrementaldecoder(encoding)(_UNREADABLE if drop_bad else "strict")
    how = "surrogateescape" if drop_bad else "strict"
    lines = 1
    handle = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as target:
        try:
            for chunk in _chunks(path):
                text = decoder.decode(chunk)
                lines += text.count("\n")
                target.write(text.encode(UTF8, how))
            target.write(decoder.decode(b"", final=True).encode(UTF8, how))
        except UnicodeError:  # of the decoder; or of the encoder, for halves of characters
            other = recognised(path) or UTF8
            advice = f" It may be {other}: {_saying(other, prefix)}" if other != encoding else ""
            raise SourceError(
                f"{path}: is not {encoding} text, somewhere after line {lines:,}.{advice}"
            ) from None
        except OSError as error:
            raise SourceError(f"{path}: cannot be copied as UTF-8 ({error.strerror}).") from None
    return copy


def is_utf8(path: Path) -> bool:
    """Whether a file is UTF-8 text with more than ASCII in it. For public files: it looks at all rows."""
    decoder, beyond_ascii = codecs.getincrementaldecoder(UTF8)(), False
    try:
        for chunk in _chunks(path):
            decoder.decode(chunk)
            beyond_ascii = beyond_ascii or not chunk.isascii()
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return beyond_ascii


def not_utf8(path: Path, prefix: str = "--") -> str:
    """An error message for a file that is not UTF-8 text: what it may be, and the option that says so."""
    begins = next(_chunks(path), b"")
    if begins.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        return (
            f"{path}: is a workbook or an archive. Give a workbook its own ending, such as .xlsx, or save the sheet as "
            "CSV; unpack an archive."
        )
    if begins.startswith(b"\x89PNG"):
        return f"{path}: is an image. CSV, TSV and Parquet files can be read."
    encoding = recognised(path)
    if encoding is None:
        return f"{path}: is UTF-8 text for the most part, but not all of it. Fix what is not"
    return (
        f"{path}: is not UTF-8 text. It can be read as {encoding} ({_CALLED[encoding]}): "
        f"{_saying(encoding, prefix)}"
    )


def _saying(encoding: str, prefix: str) -> str:
    """How to say that a file has an encoding. That of the visits holds for the list of places, too."""
    alone = "" if prefix == "--" else f"; of the list alone {prefix}encoding {encoding}"
    return f'encoding="{encoding}" (--encoding {encoding}{alone})'


def recognised(path: Path) -> str | None:
    """The encoding that a file which is not UTF-8 is probably in; None if most of it is UTF-8 after all."""
    begins = next(_chunks(path), b"")
    if begins.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if begins[:2].count(0) == 1:  # letters of ASCII have one zero byte each
        return "utf-16-be" if begins[0] == 0 else "utf-16-le"
    whole, broken, odd = 0, 0, False
    for chunk in _chunks(path):
        readable = chunk.decode(UTF8, "ignore").encode(UTF8)
        broken += len(chunk) - len(readable)
        whole += len(re.findall(rb"[\xc2-\xf4][\x80-\xbf]+", readable))
        odd = odd or _NOT_CP1252.search(chunk) is not None
    if whole > broken:
        return None
    return "latin-1" if odd else "cp1252"


def _chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file; SourceError if it cannot be read to its end."""
    with opened(path) as file:
        while True:
            try:
                chunk = file.read(_CHUNK)
            except (OSError, EOFError, zlib.error) as error:
                raise damaged(path, error) from None
            if not chunk:
                return
            yield chunk

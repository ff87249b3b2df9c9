"""Languages: the words of a page, and how numbers and days are written in each.

    words_in("de")("list.next")             the text of a key
    words_in("de").number(1234.5, ",.1f")   1.234,5

All words are in `core/words`, one module for each language; a further language is one file more there. A module has

    WORDS                 the texts by key, with {names} for what is put in; or variants of one, by what decides
    DECIMAL, THOUSANDS    the marks in numbers
    DAY                   how a date is written
    plural(number)        which variant of a text goes with a number of things

English is also the language of all other files of a release: their sentences about the guarantee are these texts.
Releases keep some of them, such as where places come from, as English text; `Words.stored` finds them again by their
key. What is nobody's but the owner's, or another author's, stays as it was given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

from locentropy.core import words as catalogues
from locentropy.core.errors import ParameterError
from locentropy.core.html import Html, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

Text = str | dict[str, str]
"""A text, or its variants."""

DEFAULT_LANGUAGE: Final = "en"
STORED: Final = "stored."
"""How keys of texts begin that releases keep in English."""
_NESTED: Final = ("source", "region")
"""Parts of stored texts that are stored texts themselves."""
_NUMBER: Final = re.compile(r"-?[0-9,]+(\.[0-9]+)?")


@dataclass(frozen=True, eq=False)
class Words:
    """The words of one language."""

    language: str
    """Its code, as HTML names it."""
    texts: Mapping[str, Text]
    """By key."""
    decimal: str
    """The mark before decimals."""
    thousands: str
    """The mark between groups of three digits."""
    date_format: str
    """How a day is written, for `strftime`."""
    plural: Callable[[int], str]
    """The variant for a number of things."""

    def __call__(self, key: str, /, *, of: str | None = None, **values: str) -> str:
        """The text of a key, or its variant `of`, with values in the place of their names."""
        return self._text(key, of).format(**values)

    def html(self, key: str, /, *, of: str | None = None, **values: str) -> Html:
        """The same as a piece of a page, in which values that are Html stay what they are."""
        parts = Formatter().parse(self._text(key, of))
        return joined(*(piece for text, name, *_ in parts for piece in (text, values[name] if name else "")))

    def count(self, key: str, number: int, /, *, of: str | None = None, **values: str) -> str:
        """The text for a number of things, which is {n} in it."""
        variant = self.plural(number) if of is None else f"{of}.{self.plural(number)}"
        return self(key, of=variant, n=self.number(number), **values)

    def number(self, value: float, form: str = ",") -> str:
        """A number, in a format of Python, with the marks of the language."""
        return self.written(f"{value:{form}}")

    def written(self, number: str) -> str:
        """A number that is written as Python writes it, with the marks of the language."""
        return number.translate({ord(","): self.thousands, ord("."): self.decimal})

    def day(self, day: date) -> str:
        """A date."""
        return f"{day:{self.date_format}}"

    def together(self, parts: Sequence[str]) -> str:
        """Several things as one enumeration."""
        *first, last = parts
        return self("and", first=", ".join(first), last=last) if first else last

    def stored(self, what: str, text: str) -> str:
        """A text that a release keeps in English, if it is one of ours that tells this; any other as it is."""
        if self.language == DEFAULT_LANGUAGE:
            return text
        for key, pattern in _stored_patterns(what).items():
            if found := pattern.fullmatch(text):
                return self(key, **{name: self._part(name, part) for name, part in found.groupdict().items()})
        return text

    def under(self, prefix: str) -> dict[str, Text]:
        """All texts whose keys begin so, by the rest of the key."""
        return {key.removeprefix(prefix): text for key, text in self.texts.items() if key.startswith(prefix)}

    def _text(self, key: str, variant: str | None) -> str:
        text = self.texts[key]
        return text if isinstance(text, str) else text[variant or ""]

    def _part(self, name: str, text: str) -> str:
        if name in _NESTED:
            return self.stored(name, text)
        return self.written(text) if _NUMBER.fullmatch(text) else text


def languages() -> tuple[str, ...]:
    """The codes of all languages that there are."""
    return tuple(sorted(module.name for module in iter_modules(catalogues.__path__)))


def check_language(language: Any) -> str:
    """The code of a language; raises ParameterError for one that is not there."""
    if language not in languages():
        raise ParameterError(
            f"is not one of {', '.join(languages())}.",
            parameter="language",
            value=language,
            example='publish(visits, Shares(epsilon=1.0), places, ledger="city.ledger", language="de")',
        )
    return str(language)


@cache
def words_in(language: str) -> Words:
    """The words of a language."""
    module = import_module(f"{catalogues.__name__}.{check_language(language)}")
    return Words(language, module.WORDS, module.DECIMAL, module.THOUSANDS, module.DAY, module.plural)


@cache
def _stored_patterns(what: str) -> dict[str, re.Pattern[str]]:
    """What fits each of the stored texts that tell this, in the order of the English file: the first that fits."""
    begins = f"{STORED}{what}"
    return {
        key: re.compile(
            "".join(
                re.escape(literal) + (f"(?P<{name}>.+?)" if name else "")
                for literal, name, *_ in Formatter().parse(text)
            )
        )
        for key, text in ENGLISH.texts.items()
        if (key == begins or key.startswith(f"{begins}.")) and isinstance(text, str)
    }


ENGLISH: Final = words_in(DEFAULT_LANGUAGE)

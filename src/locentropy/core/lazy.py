"""Names that load their module when first used, so that importing a package stays light."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose names live in other modules.

    `homes` gives the module of each name, as a path below `locentropy`.
    """

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if home.rpartition(".")[2] == name:  # a module, offered as a name
            return import_module(f"locentropy.{home}")
        return getattr(import_module(f"locentropy.{home}"), name)

    def names() -> list[str]:
        return sorted(homes)

    return get, names

"""Names that load their module on first use, so that importing a package stays fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def lazy_names(
    package: str, homes: Mapping[str, str], submodules: Iterable[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose names live in other modules.

    `homes` gives the module of each name, as a path below `locentropy`; `submodules` are modules of the package itself.
    """
    own = frozenset(submodules)

    def get(name: str) -> object:
        if name in own:
            return import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"locentropy.{homes[name]}"), name)

    def names() -> list[str]:
        return sorted({*homes, *own})

    return get, names

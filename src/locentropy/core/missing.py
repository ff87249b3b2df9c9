"""Modules that are not installed: an error says which, and which extra or package has it."""

from __future__ import annotations

from typing import Final

EXTRAS: Final = {
    "excel": ("python_calamine",),
    "geo": ("h3", "pyogrio", "pyproj", "shapely"),
    "plots": ("matplotlib",),
    "spark": ("pyspark",),
}
"""The modules for which each extra is there."""


def missing_module(error: BaseException, package: str | None = None) -> str | None:
    """Say which module is missing and what to install, if that is the error or its cause; None for any other error.

    `package` is what has all that was asked of, such as an extra of Ibis, where the caller knows it.
    """
    found: BaseException | None = error
    while not isinstance(found, ModuleNotFoundError):
        if found is None:
            return None
        found = found.__cause__
    name = (found.name or "").partition(".")[0]
    package = next((f"locentropy[{extra}]" for extra, names in EXTRAS.items() if name in names), package)
    module = f"the Python module {name!r}" if name else "a Python module"
    remedy = (
        f"To install it: pip install '{package}'"
        if package
        else "Install the package that has it; if locentropy depends on that package, install locentropy again."
    )
    return f"This needs {module}, which is not installed. {remedy}"

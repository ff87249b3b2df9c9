"""Puts the built documentation into the wheel, where `make wheel` has built it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DocumentationHook(BuildHookInterface[Any]):
    """Adds `site/` as `locentropy/site`. Installing from a checkout builds no documentation, and has none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel is built."""
        if version == "standard" and Path(self.root, "site", "index.html").is_file():
            build_data["force_include"]["site"] = "locentropy/site"

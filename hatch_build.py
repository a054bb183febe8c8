"""What a release adds to the wheel: man page, completions, and the bill of materials.

`make dist` writes them to `build/release` before it builds, and an sdist holds them, so that wheels
made of it do, too. A wheel built in a clone without them lacks them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ReleaseFiles(BuildHookInterface[Any]):
    """Adds what is in `build/release`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to the builder of wheels."""
        release = Path(self.root, "build", "release")
        build_data["shared_data"] = {
            str(file): str(file.relative_to(release))
            for file in sorted((release / "share").rglob("*"))
            if file.is_file()
        }
        build_data["sbom_files"] = [str(file) for file in sorted(release.glob("*.cdx.json"))]

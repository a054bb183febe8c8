"""`--mutated-out`: the objects that policies have changed, as manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from celadon.cli.checking.check_report import ObjectResult, Report
from celadon.cli.formats.object_diffs import yaml_text
from celadon.patterns import late_pattern

_UNSAFE: Final = late_pattern(r"[^A-Za-z0-9._-]")


def write_mutated(report: Report, folder: str) -> list[Path]:
    """A file for each, named after kind, namespace and name; the folder is made if need be. Raises
    OSError."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for result in report.objects:
        if result.mutated is not None:
            path = target / _file_name(result)
            path.write_text(yaml_text(result.mutated.after), encoding="utf-8")
            written.append(path)
    return written


def _file_name(result: ObjectResult) -> str:
    parts = (result.kind.lower(), result.namespace, result.name)
    return _UNSAFE.sub("_", "-".join(part for part in parts if part)) + ".yaml"

"""`--admission-control-config-file`: what the admission plugins are told, from files."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from celadon.admission.plugins import PluginSettings
from celadon.admission.plugins.configuration import BadConfiguration, plugin_settings
from celadon.admission.static import GATE


def read_admission_file(path: Path, gates: Mapping[str, bool] | None = None) -> PluginSettings:
    """YAML or JSON; files that it names are found from its folder. `gates` are the feature gates
    that are not as by default. Raises BadConfiguration, OSError and UnicodeError."""
    return plugin_settings(
        _document(path),
        lambda named: _document(path.parent / named),
        folder_problem,
        gated=(gates or {}).get(GATE, False),
    )


def folder_problem(path: str) -> str:
    """Why it is not that of a folder, in Go's words; empty if it is."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        return f"unable to read: stat {path}: {(error.strerror or str(error)).lower()}"
    return "" if stat.S_ISDIR(mode) else "must be a directory"


def _document(path: Path) -> object:
    import yaml  # late: few servers have such a file

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise BadConfiguration(f"`{path}`: {' '.join(str(error).split())}") from None

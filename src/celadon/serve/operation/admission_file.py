"""`--admission-control-config-file`: what the admission plugins are told, from files."""

from __future__ import annotations

from pathlib import Path

import yaml

from celadon.admission.plugins import PluginSettings
from celadon.admission.plugins.configuration import BadConfiguration, plugin_settings


def read_admission_file(path: Path) -> PluginSettings:
    """YAML or JSON; files that it names are found from its folder. Raises BadConfiguration, OSError
    and UnicodeError."""
    return plugin_settings(_document(path), lambda named: _document(path.parent / named))


def _document(path: Path) -> object:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise BadConfiguration(f"`{path}`: {' '.join(str(error).split())}") from None

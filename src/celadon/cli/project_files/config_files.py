"""The configuration of commands: a table of celadon.toml, or below `[tool.celadon]` of
pyproject.toml.

The nearest file with such a table counts, from the working directory upwards; in one folder
celadon.toml goes before pyproject.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_FILES: Final = (("celadon.toml", ()), ("pyproject.toml", ("tool", "celadon")))
FILE_NAMES: Final = tuple(name for name, _ in _FILES)
"""What files with configuration are called."""


class ConfigError(ValueError):
    """What is wrong, with the file."""


def nearest_table(folder: Path, name: str) -> tuple[Path, Mapping[str, Any]] | None:
    """The table of that name that applies in a folder, and its file. Raises `ConfigError`."""
    for parent in (folder, *folder.parents):
        for file, keys in _FILES:
            table = _table(parent / file, (*keys, name))
            if table is not None:
                return parent / file, table
    return None


def _table(path: Path, keys: tuple[str, ...]) -> Mapping[str, Any] | None:
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder, a file is expected")
    if not path.is_file():
        return None
    try:
        found: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {str(error).lower()}") from error
    for depth, key in enumerate(keys, 1):
        found = found.get(key)
        if found is None:
            return None
        if not isinstance(found, dict):
            raise ConfigError(f"{path}: `{'.'.join(keys[:depth])}` must be a table")
    return dict(found)

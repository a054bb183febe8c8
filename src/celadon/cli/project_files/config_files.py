"""The configuration of commands: what stands in celadon.toml, or below `[tool.celadon]` of
pyproject.toml.

What all commands share stands at the top (`project_config`); a command's own table has the name of
the command. The nearest file that has what is looked for counts, from the working directory
upwards; in one folder celadon.toml goes before pyproject.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from celadon.records import dataclass

_FILES: Final = (("celadon.toml", ()), ("pyproject.toml", ("tool", "celadon")))
FILE_NAMES: Final = tuple(name for name, _ in _FILES)
"""What files with configuration are called."""
TABLES: Final = ("fmt", "lint")
"""The tables that one command has for itself."""


class ConfigError(ValueError):
    """What is wrong, with the file."""


@dataclass(frozen=True, slots=True)
class SharedTable:
    """What a file says to all commands: its values, below which keys of which text they stand."""

    path: Path
    text: str
    keys: tuple[str, ...]
    values: Mapping[str, Any]


def nearest_table(folder: Path, name: str) -> tuple[Path, Mapping[str, Any]] | None:
    """The table of that name that applies in a folder, and its file. Raises `ConfigError`."""
    for path, keys in _paths(folder):
        _, table = _table(path, (*keys, name))
        if table is not None:
            return path, table
    return None


def nearest_shared(folder: Path) -> SharedTable | None:
    """What applies in a folder to all commands. Raises `ConfigError`."""
    for path, keys in _paths(folder):
        text, table = _table(path, keys)
        values = {key: value for key, value in (table or {}).items() if key not in TABLES}
        if values:
            return SharedTable(path, text, keys, values)
    return None


def _paths(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Where there may be configuration, nearest first, and below which keys."""
    for parent in (folder, *folder.parents):
        for file, keys in _FILES:
            yield parent / file, keys


def _table(path: Path, keys: tuple[str, ...]) -> tuple[str, dict[str, Any] | None]:
    """The text of a file, and the table in it; None if there is none."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder, a file is expected")
    if not path.is_file():
        return "", None
    import tomllib  # late: most folders have no such file

    try:
        text = path.read_text(encoding="utf-8")
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_misspelled(path, str(error))) from error
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {str(error).lower()}") from error
    for depth, key in enumerate(keys, 1):
        found = found.get(key)
        if found is None:
            return text, None
        if not isinstance(found, dict):
            raise ConfigError(f"{path}: `{'.'.join(keys[:depth])}` must be a table")
    return text, dict(found)


def _misspelled(path: Path, message: str) -> str:
    """What tomllib says, with the place in front, as compilers write it."""
    place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if place is None:
        return f"{path}: {message.lower()}"
    return f"{path}:{place[1]}:{place[2]}: {message[: place.start()].lower()}"

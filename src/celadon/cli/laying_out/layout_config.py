"""The configuration of `celadon fmt`: `[fmt]` in celadon.toml, `[tool.celadon.fmt]` in
pyproject.toml.

    [fmt]
    line-width = 100
    exclude = ["*/drafts"]
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from celadon.cli.project_files.config_files import ConfigError, nearest_table
from celadon.cli.suggestions import did_you_mean
from celadon.records import dataclass

DEFAULT_WIDTH: Final = 80
MIN_WIDTH: Final = 20
MAX_WIDTH: Final = 1000
_KEYS: Final = ("line-width", "exclude")


@dataclass(frozen=True, slots=True)
class LayoutConfig:
    """`line_width` is in characters, the indentation of the file included."""

    line_width: int = DEFAULT_WIDTH
    exclude: tuple[str, ...] = ()


def layout_config(folder: Path) -> LayoutConfig:
    """The configuration that applies in a folder. Raises `ConfigError`."""
    found = nearest_table(folder, "fmt")
    return LayoutConfig() if found is None else _config(*found)


def _config(path: Path, table: Mapping[str, Any]) -> LayoutConfig:
    for key in table:
        if key not in _KEYS:
            raise ConfigError(f"{path}: no option `{key}`{did_you_mean(key, _KEYS)}")
    width = table.get("line-width", DEFAULT_WIDTH)
    if not isinstance(width, int) or isinstance(width, bool) or not is_width(width):
        raise ConfigError(f"{path}: `line-width` must be a number from {MIN_WIDTH} to {MAX_WIDTH}")
    exclude = table.get("exclude", [])
    if not isinstance(exclude, list) or not all(isinstance(one, str) for one in exclude):
        raise ConfigError(f"{path}: `exclude` must be a list of texts")
    return LayoutConfig(width, tuple(exclude))


def is_width(width: int) -> bool:
    """Whether lines may be that long."""
    return MIN_WIDTH <= width <= MAX_WIDTH

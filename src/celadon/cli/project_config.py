"""What the commands of a project share: the top of celadon.toml, `[tool.celadon]` of
pyproject.toml, and a profile in it.

    policies = ["policies"]
    cluster = ["cluster", "crds/*.yaml"]
    kubernetes-version = "1.35"
    exclude = ["policies/drafts"]

    [profiles.ci]
    cluster = ["production"]
    kubernetes-version = "1.36"

Paths are relative to the file. The lists of a profile are added to those at the top; its version
replaces the one there.
"""

from __future__ import annotations

import argparse
import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from celadon.cli.options import did_you_mean, kubernetes_version
from celadon.records import dataclass

# --- Config files ------------------------------------------------------------
#
# The configuration of commands: what stands in celadon.toml, or below `[tool.celadon]` of
# pyproject.toml.
#
# What all commands share stands at the top (`project_config`); a command's own table has the
# name of the command. The nearest file that has what is looked for counts, from the working
# directory upwards; in one folder celadon.toml goes before pyproject.toml.


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
    """Return what applies in a folder to all commands. Raises `ConfigError`."""
    for path, keys in _paths(folder):
        text, table = _table(path, keys)
        values = {key: value for key, value in (table or {}).items() if key not in TABLES}
        if values:
            return SharedTable(path, text, keys, values)
    return None


def _paths(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield where there may be configuration, nearest first, and below which keys."""
    for parent in (folder, *folder.parents):
        for file, keys in _FILES:
            yield parent / file, keys


def _table(path: Path, keys: tuple[str, ...]) -> tuple[str, dict[str, Any] | None]:
    """The text of a file, and the table in it; None if there is none."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder, a file is expected")
    if not path.is_file():
        return "", None
    # late: most folders have no such file
    import tomllib

    from celadon.cli.toml_places import DEEPEST, too_deep

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {str(error).lower()}") from error
    line = too_deep(text)
    if line:
        raise ConfigError(f"{path}:{line}: a key of more than {DEEPEST} parts")
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_misspelled(path, str(error))) from error
    except (ValueError, RecursionError) as error:  # too many digits, dates, brackets
        raise ConfigError(f"{path}: {str(error).partition(';')[0].lower()}") from error
    for depth, key in enumerate(keys, 1):
        found = found.get(key)
        if found is None:
            return text, None
        if not isinstance(found, dict):
            raise ConfigError(f"{path}: `{'.'.join(keys[:depth])}` must be a table")
    return text, dict(found)


def _misspelled(path: Path, message: str) -> str:
    """Return what tomllib says, with the place in front, as compilers write it."""
    place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if place is None:
        return f"{path}: {message.lower()}"
    return f"{path}:{place[1]}:{place[2]}: {message[: place.start()].lower()}"


_PROFILES: Final = "profiles"
_VERSION: Final = "kubernetes-version"
_PATHS: Final = ("policies", "cluster")
PROFILE_KEYS: Final = (*_PATHS, "exclude", _VERSION)
"""What a profile may have, and the top of the file too."""


@dataclass(frozen=True, slots=True)
class Project:
    """What is said to all commands, ready to be used in the working directory."""

    file: str = ""
    """Empty if there is none."""
    profile: str = ""
    files: tuple[str, ...] = ()
    """What `-f` gives to commands."""
    exclude: tuple[str, ...] = ()
    version: str = ""
    """Empty if the file says nothing."""

    @property
    def summary(self) -> str:
        """Return which file was used and what it adds, in a line; empty if there was none."""
        if not self.file:
            return ""
        profile = f", profile {self.profile}" if self.profile else ""
        options = [
            *(f"-f {one}" for one in self.files),
            *(f"--exclude {one}" for one in self.exclude),
            *([f"--{_VERSION} {self.version}"] if self.version else []),
        ]
        return f"configuration: {self.file}{profile}: {' '.join(options) or 'nothing'}"


NO_PROJECT: Final = Project()


def find_project(folder: Path, profile: str = "", *, reads_files: bool = True) -> Project:
    """Return what applies in a folder. Only if it `reads_files`, the paths must lead somewhere.
    Raises `ConfigError`."""
    shared = nearest_shared(folder)
    if shared is not None:
        return _Reader(shared, folder).project(profile, reads_files=reads_files)
    if profile:
        raise ConfigError(f"`--profile {profile}`: there is no celadon.toml with profiles")
    return NO_PROJECT


class _Reader:
    """Judges a file as a whole, then says what of it counts."""

    __slots__ = ("_folder", "_shared", "_shown")

    def __init__(self, shared: SharedTable, folder: Path) -> None:
        self._shared = shared
        self._folder = folder
        self._shown = os.path.relpath(shared.path, folder)

    def project(self, profile: str, *, reads_files: bool) -> Project:
        """With a profile, or without one if its name is empty."""
        values = self._shared.values
        self._refuse_unknown((), values, (*PROFILE_KEYS, _PROFILES, *TABLES))
        self._check((), values)
        profiles = values.get(_PROFILES, {})
        if not isinstance(profiles, dict):
            self._refuse((_PROFILES,), "must be a table, with a table for each profile")
        for name, table in profiles.items():
            if not isinstance(table, dict):
                self._refuse((_PROFILES, name), "must be a table")
            self._refuse_unknown((_PROFILES, name), table, PROFILE_KEYS)
            self._check((_PROFILES, name), table)
        parts: list[tuple[tuple[str, ...], Mapping[str, Any]]] = [((), values)]
        if profile:
            if profile not in profiles:
                hint = did_you_mean(profile, profiles)
                self._refuse((_PROFILES,), f"there is no profile `{profile}`{hint}")
            parts.append(((_PROFILES, profile), profiles[profile]))
        return Project(
            self._shown,
            profile,
            tuple(self._files(parts, must_exist=reads_files)),
            tuple(self._pattern(one) for _, part in parts for one in part.get("exclude", ())),
            next((_release(part) for _, part in reversed(parts) if _VERSION in part), ""),
        )

    def _refuse_unknown(
        self, above: tuple[str, ...], table: Mapping[str, Any], known: tuple[str, ...]
    ) -> None:
        for key in table:
            if key not in known:
                self._refuse((*above, key), f"there is no such key{did_you_mean(key, known)}")

    def _check(self, above: tuple[str, ...], table: Mapping[str, Any]) -> None:
        """The types of all values."""
        for key in (*_PATHS, "exclude"):
            values = table.get(key, [])
            if not isinstance(values, list):
                self._refuse((*above, key), "must be a list of texts")
            for number, value in enumerate(values):
                if not isinstance(value, str) or not value:
                    self._refuse((*above, key, number), "must be a text that is not empty")
                if value == "-" and key in _PATHS:
                    text = "standard input (`-`) can only be given on the command line"
                    self._refuse((*above, key, number), text)
        if _VERSION not in table:
            return
        if not isinstance(table[_VERSION], str):
            self._refuse((*above, _VERSION), 'must be a text like "1.36"')
        try:
            _release(table)
        except argparse.ArgumentTypeError as error:
            self._refuse((*above, _VERSION), str(error))

    def _files(
        self, parts: Iterable[tuple[tuple[str, ...], Mapping[str, Any]]], *, must_exist: bool
    ) -> Iterable[str]:
        """As they are called from the folder, each once."""
        found: dict[str, None] = {}
        for above, part in parts:
            for key in _PATHS:
                for number, value in enumerate(part.get(key, ())):
                    path = self._moved(value)
                    if must_exist and not _leads_somewhere(path, self._folder):
                        self._refuse((*above, key, number), f"`{value}` does not exist")
                    found[path] = None
        return found

    def _moved(self, path: str) -> str:
        """A path relative to the file, as it is called from the folder."""
        if os.path.isabs(path):
            return path
        return os.path.relpath(self._shared.path.parent / path, self._folder)

    def _pattern(self, pattern: str) -> str:
        """A pattern of files relative to the file, as it must be in the folder. A name, and what
        begins with a star, matches anywhere."""
        return self._moved(pattern) if "/" in pattern.strip("/") and pattern[0] != "*" else pattern

    def _refuse(self, path: tuple[str | int, ...], message: str) -> NoReturn:
        """Say what is wrong with a key, or an item, and where it stands."""
        # late: only if so
        from celadon.cli.toml_places import key_places

        whole = (*self._shared.keys, *path)
        place = key_places(self._shared.text).get(whole)
        at = self._shown if place is None else f"{self._shown}:{place[0]}:{place[1]}"
        key = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in whole)
        raise ConfigError(f"{at}: `{key.removeprefix('.')}`: {message}")


def _release(table: Mapping[str, Any]) -> str:
    return kubernetes_version(table[_VERSION])


def _leads_somewhere(path: str, folder: Path) -> bool:
    """Return whether there is such a file or folder, or a file that the pattern matches."""
    if os.path.exists(folder / path):  # which a name that is too long is no error for
        return True
    return glob.has_magic(path) and any(glob.iglob(path, root_dir=folder, recursive=True))

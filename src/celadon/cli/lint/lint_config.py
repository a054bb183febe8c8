"""The configuration of `celadon lint`: `[lint]` in celadon.toml, `[tool.celadon.lint]` in
pyproject.toml.

The nearest file counts, from the working directory upwards; in one folder celadon.toml goes before
pyproject.toml. Options of the command line go before the file.

    [lint]
    select = ["CEL0"]
    ignore = ["CEL041", "status-warning"]
    kubernetes-versions = ["1.33", "1.36"]
    fail-on = "warning"
    large-object = 512
    exclude = ["*/drafts"]
    [lint.per-file-ignores]
    "legacy/*" = ["CEL041"]
"""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from celadon.cli.lint.file_rules import EVERY_RULE
from celadon.cli.options import DEFAULT_VERSION, did_you_mean, kubernetes_version
from celadon.cli.project_config import NO_PROJECT, ConfigError, Project, nearest_table
from celadon.kube.json_types import JsonObject
from celadon.records import dataclass

FAIL_ON: Final = {
    **{name: name for name in ("error", "warning", "info", "never")},
    "warn": "warning",
}
"""What `fail-on` may be, and what it means."""


@dataclass(frozen=True, slots=True)
class LintConfig:
    """`large_object` is in KiB. The field names are the keys of the file, with underscores."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    kubernetes_versions: tuple[str, ...] = (DEFAULT_VERSION,)
    fail_on: str = "error"
    large_object: int = 256
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns of files, each with the rules that do not count there."""

    @property
    def named(self) -> tuple[str, ...]:
        """All rules that it names."""
        ignored = (name for _, names in self.per_file_ignores for name in names)
        return (*self.select, *self.ignore, *ignored)


def find_config(folder: Path, project: Project = NO_PROJECT) -> LintConfig:
    """The configuration that applies in a folder, on top of what all commands share there. Raises
    `ConfigError`."""
    default = LintConfig(kubernetes_versions=(project.version or DEFAULT_VERSION,))
    found = nearest_table(folder, "lint")
    config = default if found is None else _config(*found, default)
    return replace(config, exclude=(*project.exclude, *config.exclude))


def _config(path: Path, table: JsonObject, default: LintConfig) -> LintConfig:
    known = {field.name.replace("_", "-"): field.name for field in fields(LintConfig)}
    values = {}
    for key, value in table.items():
        if key not in known:
            raise ConfigError(f"{path}: no option `{key}`{did_you_mean(key, known)}")
        values[known[key]] = _value(path, key, value)
    config = replace(default, **values)
    wrong = unknown_rule(config.named)
    if wrong:
        raise ConfigError(f"{path}: {wrong}")
    return config


def _value(path: Path, key: str, value: object) -> Any:  # noqa: ANN401 - any JSON
    if key == "large-object":
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError(f"{path}: `{key}` must be a number of KiB")
        return value
    if key == "fail-on":
        if not isinstance(value, str) or value not in FAIL_ON:
            raise ConfigError(f"{path}: `{key}` must be one of {', '.join(FAIL_ON)}")
        return FAIL_ON[value]
    if key == "per-file-ignores":
        if not isinstance(value, dict):
            raise ConfigError(f"{path}: `{key}` must be a table")
        return tuple((pattern, _value(path, pattern, names)) for pattern, names in value.items())
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ConfigError(f"{path}: `{key}` must be a list of texts")
    if key == "kubernetes-versions":
        try:
            return tuple(map(kubernetes_version, value)) or (DEFAULT_VERSION,)
        except argparse.ArgumentTypeError as error:
            raise ConfigError(f"{path}: {error}") from error
    return tuple(value)


def unknown_rule(names: tuple[str, ...]) -> str:
    """Return what is wrong with the first name that no rule goes by; empty if all are good."""
    for name in names:
        if not name or not any(one.code.startswith(name) or one.name == name for one in EVERY_RULE):
            every = [word for one in EVERY_RULE for word in (one.code, one.name)]
            return f"no rule `{name}`{did_you_mean(name, every)}"
    return ""

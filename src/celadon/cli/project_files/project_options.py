"""`--profile` and `--no-config`, and what they take from the configuration of a project into the
options of a command."""

from __future__ import annotations

import argparse
from pathlib import Path

from celadon.cli.project_files.project_config import NO_PROJECT, Project, find_project
from celadon.cli.release_option import DEFAULT_VERSION


def add_project(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("configuration")
    group.add_argument(
        "--profile",
        default="",
        metavar="NAME",
        help="what celadon.toml has below [profiles.NAME] counts too",
    )
    group.add_argument(
        "--no-config", action="store_true", help="celadon.toml and pyproject.toml do not count"
    )


def project_of(options: argparse.Namespace, *, reads_files: bool = True) -> Project:
    """What the options choose of the configuration. Raises ConfigError."""
    from celadon.cli.project_files.config_files import ConfigError

    if not options.no_config:
        return find_project(Path.cwd(), options.profile, reads_files=reads_files)
    if options.profile:
        raise ConfigError("`--profile` and `--no-config` exclude each other")
    return NO_PROJECT


def use_project(options: argparse.Namespace) -> Project:
    """Complete the options: a release that is given counts, patterns come behind those of the file.
    The caller adds the files to what `-f` gives. Raises ConfigError."""
    project = project_of(options)
    options.exclude = [*project.exclude, *options.exclude]
    options.kubernetes_version = options.kubernetes_version or project.version or DEFAULT_VERSION
    return project


def shown_use(options: argparse.Namespace, project: Project) -> str:
    """Which file was used, for those who want to know more; empty for the others."""
    return project.summary if options.verbose else ""

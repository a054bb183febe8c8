"""`--profile` and `--no-config`, and what they take from the configuration of a project into the
options of a command."""

from __future__ import annotations

import argparse
from collections.abc import Callable
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


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """Declare `--verbose` for a command that has nothing else to say at length."""
    parser.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="say which configuration file was used, and what it adds",
    )


def project_of(
    options: argparse.Namespace, complain: Callable[[str], None], *, reads_files: bool = True
) -> Project:
    """What the options choose of the configuration; with `--verbose`, `complain` is told which file
    that is. Raises ConfigError."""
    from celadon.cli.project_files.config_files import ConfigError

    if options.no_config:
        if options.profile:
            raise ConfigError("`--profile` and `--no-config` exclude each other")
        return NO_PROJECT
    project = find_project(Path.cwd(), options.profile, reads_files=reads_files)
    if options.verbose and project.summary:
        complain(project.summary)
    return project


def use_project(options: argparse.Namespace, complain: Callable[[str], None]) -> tuple[str, ...]:
    """Complete the options: a release that is given counts, patterns come behind those of the file.
    What comes back are the files that go before what `-f` gives. Raises ConfigError."""
    project = project_of(options, complain)
    options.exclude = [*project.exclude, *options.exclude]
    options.kubernetes_version = options.kubernetes_version or project.version or DEFAULT_VERSION
    return project.files

"""`-f`: the files and folders that a command reads, besides those it is about."""

from __future__ import annotations

import argparse
from typing import Final

POLICIES: Final = "policies, bindings and what they look up"


def add_files(group: argparse._ActionsContainer, what: str, dest: str = "files") -> None:
    """Declare the option; `what` says what is in the files."""
    group.add_argument(
        "-f",
        "--filename",
        action="append",
        default=[],
        metavar="PATH",
        dest=dest,
        help=f"{what}; may be repeated",
    )


def add_exclude(group: argparse._ActionsContainer) -> None:
    """Declare `--exclude`."""
    group.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="leave out files of folders and globs that match, or whose folder does; may be "
        "repeated",
    )

"""Values of options, for argparse, and options that several commands have."""

from __future__ import annotations

import argparse
from typing import Final


def count(text: str) -> int:
    """A number from 0 on."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 0 on")
    return int(text)


def seconds(text: str) -> float:
    """A duration as Go writes it, in seconds."""
    from celadon.cel.value_functions import parse_duration  # late: few options are durations

    found = parse_duration(text)
    if found is None or found.nanoseconds < 0:
        raise argparse.ArgumentTypeError(f"`{text}` is not a duration like 30s or 1m30s")
    return found.nanoseconds / 1e9


def add_expected(parser: argparse.ArgumentParser) -> None:
    """Declare `--expect`."""
    parser.add_argument(
        "--expect",
        choices=("admit", "deny", "warn", "audit", "error", "noMatch", "invalid"),
        default="",
        help="the verdict on AdmissionReviews that have no response",
    )


# --- options of several commands ------------------------------------------------------------------


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

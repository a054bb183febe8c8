"""`--kubernetes-version`: the release whose rules apply."""

from __future__ import annotations

import argparse
from typing import Final

from celadon.patterns import late_pattern

VERSIONS: Final = tuple(f"1.{minor}" for minor in range(30, 38))
"""All that are known, oldest first."""

DEFAULT_VERSION: Final = "1.36"
_VERSION: Final = late_pattern(r"v?(1\.\d+)(?:\..*)?")


def kubernetes_version(text: str) -> str:
    """`1.36` from `1.36`, `v1.36` or `v1.36.2`; argparse shows the error."""
    match = _VERSION.fullmatch(text)
    if match is None or match[1] not in VERSIONS:
        raise argparse.ArgumentTypeError(
            f"unknown version `{text}`, expected {VERSIONS[0]} to {VERSIONS[-1]}"
        )
    return match[1]


def add_version(group: argparse._ActionsContainer, default: str | None = DEFAULT_VERSION) -> None:
    """Declare the option. A command that asks the configuration, too, has None as the default, to
    see whether the option was given."""
    group.add_argument(
        "--kubernetes-version",
        type=kubernetes_version,
        default=default,
        metavar="VERSION",
        help=f"{VERSIONS[0]} to {VERSIONS[-1]} (default: {DEFAULT_VERSION})",
    )

"""Values of options, for argparse."""

from __future__ import annotations

import argparse


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

"""What is not reached yet: `unreached.txt`, names of scenarios below the reason why.

It is only allowed to shrink: a listed scenario that agrees is an error, as is one that differs and
is not listed, or is listed without a reason. `python -m tests.recorded --write` writes the list
anew for what it ran: who is listed keeps the reason, others get one of `REASONS`, or `OPEN`, which
is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

UNREACHED: Final = Path(__file__).with_name("unreached.txt")

OPEN: Final = "why?"
"""Stands where a reason is to be written."""

REASONS: Final = (
    (re.compile(r"scheme\.go:"), "names a source file of the recording's build"),
    (re.compile(r"proto:"), "one space or two after `proto:`, as the recording's build has it"),
)
"""What explains differences that read so."""


def unreached(path: Path = UNREACHED) -> dict[str, str]:
    """Names of scenarios, each with the reason."""
    found, reason = {}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason = line.removeprefix("#").strip()
        elif line:
            found[line] = reason
    return found


def complaints(
    known: Mapping[str, str], asked: Collection[str], failed: Collection[str], way: str
) -> Iterator[str]:
    """Where the list is wrong about scenarios that were replayed in a way."""
    for name in asked:
        if name in failed and name not in known:
            yield f"{name} differs ({way})"
        elif name in failed and known[name] in ("", OPEN):
            yield f"{name} is listed without a reason"
        elif name not in failed and name in known:
            yield f"{name} agrees ({way}): take it off {UNREACHED.name}"


def refilled(
    known: Mapping[str, str], asked: Collection[str], failed: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """The list after scenarios were replayed; `failed` has of each that differs in which lines."""
    kept = {name: reason for name, reason in known.items() if name not in asked or name in failed}
    new = {name: reason_of(lines) for name, lines in failed.items() if name not in known}
    return kept | new


def reason_of(differences: Sequence[str]) -> str:
    """The reason that explains every difference, or `OPEN`."""
    for pattern, reason in REASONS:
        if differences and all(pattern.search(line) for line in differences):
            return reason
    return OPEN


def write(listed: Mapping[str, str], path: Path = UNREACHED) -> None:
    """By reason, in the order of names."""
    sections = (
        "".join(f"{line}\n" for line in (f"# {reason}", *sorted(names)))
        for reason in sorted(set(listed.values()))
        if (names := [name for name, given in listed.items() if given == reason])
    )
    path.write_text("\n".join(sections), encoding="utf-8")

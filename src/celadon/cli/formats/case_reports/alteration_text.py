"""What was changed in policies and no case noticed, for people: policy by policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.cli.formats.check_human import Look
from celadon.cli.policy_tests.alteration_counts import (
    AlterationResult,
    Alterations,
    Fate,
)
from celadon.cli.policy_tests.coverage_counts import Measured

LEFT: Final = frozenset({Fate.SURVIVED, Fate.OPEN, Fate.UNREACHED})
"""What becomes of an alteration that lowers the score."""
_STYLES: Final = {"+": "admitted", "-": "denied"}


def alteration_blocks(found: Alterations, wanted: float, look: Look) -> Iterator[list[str]]:
    """Blocks for each policy, then one for all."""
    for policy, own in found.of_policies().items():
        yield [_head(policy, own, look), *_notes(own, look)]
        for one in own.results:
            if one.fate in LEFT:
                yield list(_survivor(one, look))
    less = f", less than {wanted:g}%" if found.score < wanted else ""
    same, alike = found.count(Fate.SAME), found.count(Fate.ALIKE)
    yield [
        f"mutants: {killed_share(found)} killed{look.paint('denied', less) if less else ''}; "
        f"{same} proved the same, {alike} the same within the bound of a search"
    ]


def killed_share(found: Alterations) -> str:
    """Rounded down: 100% is all."""
    tenths = int(found.score * 10) / 10
    return f"{tenths:g}% ({found.count(Fate.KILLED)} of {found.counted})"


def told(one: AlterationResult) -> str:
    """What was changed, and what became of it, in a line."""
    changed = f"{one.kind.value}: {one.field} {one.text}"
    match one.fate:
        case Fate.KILLED:
            return f"{changed}: killed by {one.killer}"
        case Fate.SAME:
            return f"{changed}: proved to be the same: {one.reason}"
        case Fate.ALIKE:
            return f"{changed}: the same within a bound: {one.reason}"
        case Fate.OPEN:
            return f"{changed}: the same in {one.requests} requests, but {one.reason} had one value"
        case Fate.UNREACHED:
            return f"{changed}: no request came to it"
        case Fate.SURVIVED:
            return changed


def _head(policy: Measured, found: Alterations, look: Look) -> str:
    is_full = found.count(Fate.KILLED) == found.counted
    style, word = ("admitted", "FULL") if is_full else ("warning", "PART")
    where = f"{policy.file}:{policy.line}"
    return f"{look.paint(style, word)} {where} {policy.kind} `{policy.name}`: {killed_share(found)}"


def _notes(found: Alterations, look: Look) -> Iterator[str]:
    """What no test could notice, as far as is known; with `-v` also what was killed."""
    for one in found.results:
        is_told = one.fate in (Fate.SAME, Fate.ALIKE) and look.verbosity >= 0
        if is_told or (one.fate is Fate.KILLED and look.verbosity > 0):
            yield f"  {one.place} {told(one)}"


def _survivor(one: AlterationResult, look: Look) -> Iterator[str]:
    yield f"{look.paint('denied', one.fate.name)} {one.place} {told(one)}"
    for line in one.diff.splitlines():
        yield f"  {look.paint(_STYLES.get(line[:1], 'dim'), line)}"
    if one.case:
        yield "  a case that notices it:"
        yield from (f"    {line}" for line in one.case.splitlines())
    elif one.fate is Fate.SURVIVED:
        yield "  requests tell it apart, but no case that says so was found"

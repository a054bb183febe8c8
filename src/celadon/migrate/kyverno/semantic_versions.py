"""Ranges of semantic versions (`>=1.2.0 <2.0.0 || 3.0.0`) as conditions of CEL.

Facts are those of `blang/semver`, which Kyverno's `semver_compare` reads ranges with. It takes what
is no version for 0.0.0.
"""

from __future__ import annotations

import re
from typing import Final

from celadon.migrate.cel_text import (
    Condition,
    choice,
    comparison,
    conjunction,
    constant,
    disjunction,
    quoted,
    truth,
)
from celadon.migrate.translations import NotTranslated

_AFTER_OPERATOR: Final = re.compile(r"(?<=[<>=!])\s+")
_PART: Final = re.compile(r"(>=|<=|!=|==|=|!|>|<|)(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)", re.ASCII)
_OPERATORS: Final = {"": "==", "=": "==", "!": "!="}
_HOLDS_OF_SIGN: Final = {
    "==": (0,), "!=": (-1, 1), ">": (1,), ">=": (0, 1), "<": (-1,), "<=": (-1, 0),
}  # fmt: skip


def is_in_versions(text: str, versions: str) -> Condition:
    """Return whether a text is a version in a range. Raises NotTranslated."""
    alternatives = [_parts(one) for one in versions.split("||")]
    inside = disjunction(
        conjunction(
            comparison(f"semver({text}).compareTo(semver({quoted(version)}))", operator, "0")
            for operator, version in one
        )
        for one in alternatives
    )
    takes_zero = any(
        all(_sign_of_zero(version) in _HOLDS_OF_SIGN[operator] for operator, version in one)
        for one in alternatives
    )
    return choice(truth(f"isSemver({text})"), inside, constant(takes_zero))


def _parts(text: str) -> list[tuple[str, str]]:
    found = [_PART.fullmatch(one) for one in _AFTER_OPERATOR.sub("", text).split()]
    parts = [(_OPERATORS.get(one[1], one[1]), one[2]) for one in found if one is not None]
    if not parts or None in found:
        raise NotTranslated(f"the range of versions `{text.strip()}`")
    return parts


def _sign_of_zero(version: str) -> int:
    """Return how 0.0.0 compares with a version."""
    numbers, _, before_release = version.partition("-")
    if numbers.strip("0."):
        return -1
    return 1 if before_release else 0

"""Semantic versions as github.com/blang/semver v4 parses, orders and prints them.

`parse` is strict. `normalize` makes a strict text of the short and padded ones that Kubernetes'
`semver(text, true)` takes. Error texts are those of that package and of Go's `strconv`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import Json
from celadon.records import dataclass

_MAX_UINT64: Final = (1 << 64) - 1
_DIGITS: Final = frozenset("0123456789")
_ALPHANUMERIC: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789")


class SemverError(MalformedText):
    """The text is blang/semver's."""


@dataclass(frozen=True, slots=True)
class Version:
    """`prerelease` holds numbers as int and other identifiers as str; `build` has no order."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()

    def precedence(self) -> tuple[Json, ...]:
        """A key whose order is the versions': a release after its prereleases, numbers before
        words; build metadata does not count."""
        identifiers = tuple(
            (0, one, "") if isinstance(one, int) else (1, 0, one) for one in self.prerelease
        )
        return (self.major, self.minor, self.patch, not identifiers, identifiers)

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += "-" + ".".join(map(str, self.prerelease))
        if self.build:
            text += "+" + ".".join(self.build)
        return text


def parse(text: str) -> Version:
    """SemverError with upstream's text for what is no version."""
    if not text:
        raise SemverError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise SemverError("No Major.Minor.Patch elements found")
    major = _number(parts[0], "major")
    minor = _number(parts[1], "minor")
    patch, plus, build = parts[2].partition("+")
    patch, dash, prerelease = patch.partition("-")
    return Version(
        major,
        minor,
        _number(patch, "patch"),
        tuple(map(_identifier, prerelease.split("."))) if dash else (),
        tuple(map(_build_identifier, build.split("."))) if plus else (),
    )


def normalize(text: str) -> str:
    """Without a leading `v`, with three parts, numbers without leading zeros."""
    parts = text.removeprefix("v").split(".", 2)
    parts = [_without_leading_zeros(part) for part in parts]
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise SemverError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _without_leading_zeros(part: str) -> str:
    if len(part.encode()) < 2:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1] in _DIGITS else "0" + stripped


def _number(text: str, which: str) -> int:
    if not _DIGITS.issuperset(text):
        raise SemverError(f"Invalid character(s) found in {which} number {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise SemverError(
            f"{which.capitalize()} number must not contain leading zeroes {quote(text)}"
        )
    return _uint64(text)


def _identifier(text: str) -> int | str:
    if not text:
        raise SemverError("Prerelease is empty")
    if _DIGITS.issuperset(text):
        if len(text) > 1 and text[0] == "0":
            raise SemverError(
                f"Numeric PreRelease version must not contain leading zeroes {quote(text)}"
            )
        return _uint64(text)
    if not _ALPHANUMERIC.issuperset(text):
        raise SemverError(f"Invalid character(s) found in prerelease {quote(text)}")
    return text


def _build_identifier(text: str) -> str:
    if not text:
        raise SemverError("Build meta data is empty")
    if not _ALPHANUMERIC.issuperset(text):
        raise SemverError(f"Invalid character(s) found in build meta data {quote(text)}")
    return text


def _uint64(text: str) -> int:
    """Work as Go's `strconv.ParseUint` of digits without leading zeros."""
    if not text:
        raise SemverError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > _MAX_UINT64:
        raise SemverError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)

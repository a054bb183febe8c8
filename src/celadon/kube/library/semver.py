"""`kubernetes.Semver`: versions as texts, `semver(string)`, `isSemver` and the order of versions.

Upstream: k8s.io/apiserver `pkg/cel/library/semverlib.go`, library version 1. With `true` as second
argument, short versions, a leading `v` and leading zeros are put right first.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.extend import EvaluationError, Function, Library, Opaque, growth, types
from celadon.cel.value_functions import Remembered
from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import Json
from celadon.kube.library import costs
from celadon.kube.library.costs import declared, overloaded
from celadon.records import dataclass

# --- Versions ----------------------------------------------------------------
#
# Semantic versions as github.com/blang/semver v4 parses, orders and prints them.
#
# `parse` is strict. `normalize` makes a strict text of the short and padded ones that Kubernetes'
# `semver(text, true)` takes. Error texts are those of that package and of Go's `strconv`.

_MAX_UINT64: Final = (1 << 64) - 1
_DIGITS: Final = frozenset("0123456789")
_ALPHANUMERIC: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789")


class SemverError(MalformedText):
    """The text is blang/semver's."""


@dataclass(frozen=True, slots=True)
class Version:
    """Holds a semantic version. `prerelease` holds numbers as int and other identifiers as str;
    `build` has no order."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()

    def precedence(self) -> tuple[Json, ...]:
        """Return a key whose order is the versions': a release after its prereleases, numbers
        before words; build metadata does not count."""
        identifiers = tuple(
            (0, identifier, "") if isinstance(identifier, int) else (1, 0, identifier)
            for identifier in self.prerelease
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
    """Return the text without a leading `v`, with three parts, numbers without leading zeros."""
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


def _number(text: str, part: str) -> int:
    if not _DIGITS.issuperset(text):
        raise SemverError(f"Invalid character(s) found in {part} number {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise SemverError(
            f"{part.capitalize()} number must not contain leading zeroes {quote(text)}"
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


_SEMVER: Final = costs.SEMVER


class Semver(Opaque):
    """A value of type `kubernetes.Semver`; build metadata does not count in equality."""

    __slots__ = ("order", "version")
    cel_type = _SEMVER
    go_name = "cel.Semver"
    go_content = "semver.Version"
    is_hashable = False

    def __init__(self, version: Version) -> None:
        self.version = version
        self.order = version.precedence()

    def equals(self, other: Opaque) -> bool:
        """Tell whether it is the same version; build metadata does not count."""
        return isinstance(other, Semver) and self.order == other.order

    def display(self) -> str:
        """Return the canonical text."""
        return str(self.version)


@Remembered
def _strict(text: str) -> Semver:
    try:
        return Semver(parse(text))
    except SemverError as error:
        raise EvaluationError(str(error)) from None


@Remembered
def _lenient(text: str) -> Semver:
    try:
        return Semver(parse(normalize(text)))
    except SemverError as error:
        raise EvaluationError(str(error)) from None


def _semver(text: str, lenient: bool, /) -> Semver:
    return _lenient(text) if lenient else _strict(text)


@Remembered
def _is_strict(text: str) -> bool:
    return _is_semver(text, lenient=False)


def _is_semver(text: str, lenient: bool) -> bool:
    try:
        _semver(text, lenient)
    except EvaluationError:
        return False
    return True


def _as_int64(number: int) -> int:
    """Return an uint64 whose bits are taken for an int64, as upstream does with huge numbers."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _major(semver: Semver) -> int:
    return _as_int64(semver.version.major)


def _minor(semver: Semver) -> int:
    return _as_int64(semver.version.minor)


def _patch(semver: Semver) -> int:
    return _as_int64(semver.version.patch)


def _compare_to(a: Semver, b: Semver) -> int:
    return (a.order > b.order) - (a.order < b.order)


def _is_less_than(a: Semver, b: Semver) -> bool:
    return a.order < b.order


def _is_greater_than(a: Semver, b: Semver) -> bool:
    return a.order > b.order


_METHODS: Final = (
    declared(
        "Semver.major() -> int",
        "semver_major",
        _major,
        "The first number.",
        ("semver('1.2.3').major()", "1"),
    ),
    declared(
        "Semver.minor() -> int",
        "semver_minor",
        _minor,
        "The second number.",
        ("semver('1.2.3').minor()", "2"),
    ),
    declared(
        "Semver.patch() -> int",
        "semver_patch",
        _patch,
        "The third number.",
        ("semver('1.2.3').patch()", "3"),
    ),
    declared(
        "Semver.isGreaterThan(Semver) -> bool",
        "semver_is_greater_than",
        _is_greater_than,
        "Whether the version comes after another.",
        ("semver('1.10.0').isGreaterThan(semver('1.9.0'))", "true"),
    ),
    declared(
        "Semver.isLessThan(Semver) -> bool",
        "semver_is_less_than",
        _is_less_than,
        "Whether the version comes before another.",
        ("semver('1.0.0-rc.2').isLessThan(semver('1.0.0'))", "true"),
    ),
    declared(
        "Semver.compareTo(Semver) -> int",
        "semver_compare_to",
        _compare_to,
        "-1, 0 or 1; build metadata does not count.",
        ("semver('1.0.0+a').compareTo(semver('1.0.0+b'))", "0"),
    ),
)

LIBRARY: Final = Library(
    "kubernetes.Semver",
    functions=(
        overloaded(
            declared(
                "semver(string) -> Semver",
                "string_to_semver",
                _strict,
                "The version a text stands for, by the strict rules of semver 2.0.",
                ("semver('1.2.3').minor()", "2"),
                growth=growth.single,
            ),
            declared(
                "semver(string, bool) -> Semver",
                "string_bool_to_semver",
                _semver,
                "The same; true allows a leading `v`, missing parts and leading zeros.",
                ("semver('v1.02', true) == semver('1.2.0')", "true"),
                growth=growth.single,
            ),
            cost=costs.FIRST,
        ),
        overloaded(
            declared(
                "isSemver(string) -> bool",
                "is_semver_string",
                _is_strict,
                "Whether a text is a version that `semver` takes.",
                ("isSemver('1.0.0')", "true"),
                ("isSemver('v1.0')", "false"),
            ),
            declared(
                "isSemver(string, bool) -> bool",
                "is_semver_string_bool",
                _is_semver,
                "The same; true allows a leading `v`, missing parts and leading zeros.",
                ("isSemver('v1.0', true)", "true"),
            ),
            cost=costs.FIRST,
        ),
        *_METHODS,
    ),
)


def _strict_only(function: Function) -> Function:
    strict = (overload for overload in function.overloads if types.BOOL not in overload.params)
    return function._replace(overloads=tuple(strict))


STRICT_LIBRARY: Final = LIBRARY._replace(functions=tuple(map(_strict_only, LIBRARY.functions)))
"""Version 0: nothing is put right."""

OLDER_LIBRARY: Final = STRICT_LIBRARY._replace(
    functions=tuple(function._replace(cost=None) for function in STRICT_LIBRARY.functions)
)
"""The same before 1.33: a call costs one."""

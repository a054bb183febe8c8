"""`kubernetes.Semver`: `semver(string)`, `isSemver` and the order of versions.

Upstream: k8s.io/apiserver `pkg/cel/library/semverlib.go`, library version 1. With `true` as second
argument, short versions, a leading `v` and leading zeros are put right first.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.extend import EvaluationError, Function, Library, Opaque, Overload, growth, types
from celadon.cel.value_functions import Remembered
from celadon.kube.library import costs
from celadon.kube.library.costs import method
from celadon.kube.semver import SemverError, Version, normalize, parse

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
        """The same version; build metadata does not count."""
        return isinstance(other, Semver) and self.order == other.order

    def display(self) -> str:
        """The canonical text."""
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
    """An uint64 whose bits are taken for an int64, as upstream does with huge numbers."""
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


_ONE: Final = (_SEMVER,)
_TWO: Final = (_SEMVER, _SEMVER)

_METHODS: Final = (
    method(
        "major",
        "semver_major",
        _ONE,
        types.INT,
        _major,
        "The first number.",
        ("semver('1.2.3').major()", "1"),
    ),
    method(
        "minor",
        "semver_minor",
        _ONE,
        types.INT,
        _minor,
        "The second number.",
        ("semver('1.2.3').minor()", "2"),
    ),
    method(
        "patch",
        "semver_patch",
        _ONE,
        types.INT,
        _patch,
        "The third number.",
        ("semver('1.2.3').patch()", "3"),
    ),
    method(
        "isGreaterThan",
        "semver_is_greater_than",
        _TWO,
        types.BOOL,
        _is_greater_than,
        "Whether the version comes after another.",
        ("semver('1.10.0').isGreaterThan(semver('1.9.0'))", "true"),
    ),
    method(
        "isLessThan",
        "semver_is_less_than",
        _TWO,
        types.BOOL,
        _is_less_than,
        "Whether the version comes before another.",
        ("semver('1.0.0-rc.2').isLessThan(semver('1.0.0'))", "true"),
    ),
    method(
        "compareTo",
        "semver_compare_to",
        _TWO,
        types.INT,
        _compare_to,
        "-1, 0 or 1; build metadata does not count.",
        ("semver('1.0.0+a').compareTo(semver('1.0.0+b'))", "0"),
    ),
)

LIBRARY: Final = Library(
    "kubernetes.Semver",
    functions=(
        Function(
            "semver",
            (
                Overload(
                    "string_to_semver",
                    (types.STRING,),
                    _SEMVER,
                    _strict,
                    doc="The version a text stands for, by the strict rules of semver 2.0.",
                    examples=(("semver('1.2.3').minor()", "2"),),
                    growth=growth.single,
                ),
                Overload(
                    "string_bool_to_semver",
                    (types.STRING, types.BOOL),
                    _SEMVER,
                    _semver,
                    doc="The same; true allows a leading `v`, missing parts and leading zeros.",
                    examples=(("semver('v1.02', true) == semver('1.2.0')", "true"),),
                    growth=growth.single,
                ),
            ),
            cost=costs.FIRST,
        ),
        Function(
            "isSemver",
            (
                Overload(
                    "is_semver_string",
                    (types.STRING,),
                    types.BOOL,
                    _is_strict,
                    doc="Whether a text is a version that `semver` takes.",
                    examples=(("isSemver('1.0.0')", "true"), ("isSemver('v1.0')", "false")),
                ),
                Overload(
                    "is_semver_string_bool",
                    (types.STRING, types.BOOL),
                    types.BOOL,
                    _is_semver,
                    doc="The same; true allows a leading `v`, missing parts and leading zeros.",
                    examples=(("isSemver('v1.0', true)", "true"),),
                ),
            ),
            cost=costs.FIRST,
        ),
        *_METHODS,
    ),
)


def _strict_only(function: Function) -> Function:
    strict = (one for one in function.overloads if types.BOOL not in one.params)
    return function._replace(overloads=tuple(strict))


STRICT_LIBRARY: Final = LIBRARY._replace(functions=tuple(map(_strict_only, LIBRARY.functions)))
"""Version 0: nothing is put right."""

OLDER_LIBRARY: Final = STRICT_LIBRARY._replace(
    functions=tuple(one._replace(cost=None) for one in STRICT_LIBRARY.functions)
)
"""The same before 1.33: a call costs one."""

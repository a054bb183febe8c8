"""The release of Kubernetes whose answers are given here: 1.36, unless somebody says otherwise.

Which kinds and fields there are, what is on by default, what is refused and in which words: all of
it depends on the release, in nearly every module of this room. So the release is not handed from
function to function. It is ambient, as the context of `decimal` is: a part of the work has one of
its own (`answering_as`), which holds in that thread or task and in tasks that it begins.
`docs/decisions/0046-releases.md` says why.

A server may emulate an older release. Then it says and refuses what its own does
(`current_release`, `is_since`), and has the feature gates and the versions of kinds of the other
(`emulated_release`).

What is worked out from facts of a release is remembered for each (`per_release`).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Final, NamedTuple, ParamSpec, TypeVar, cast

from celadon.kube.errors import MalformedText
from celadon.patterns import late_pattern

Minor = tuple[int, int]
"""A release by its numbers: 1.36 is `(1, 36)`."""

DEFAULT: Final = "1.36"
"""The release that is meant where nobody says which."""

DESCRIBED: Final = "1.36"
"""The release that `data/` describes; of later ones only what the source says is known."""

PATCHES: Final[Mapping[str, int]] = {
    "1.30": 14,
    "1.31": 14,
    "1.32": 13,
    "1.33": 13,
    "1.34": 9,
    "1.35": 6,
}
"""The patch releases that older releases are described as: v1.30.14, and so on."""

OLDEST_RELEASE: Final[Minor] = (1, 30)
"""The first release that is told apart from others."""
LATEST_RELEASE: Final[Minor] = (1, 37)
LATEST: Final = "{}.{}".format(*LATEST_RELEASE)

_VERSION: Final = late_pattern(r"([0-9]{1,4})\.([0-9]{1,4})")

P = ParamSpec("P")
R = TypeVar("R")


class VersionError(MalformedText):
    """The text is no release that this table knows."""


@functools.cache
def parse_version(text: str) -> Minor:
    """Raises VersionError for what is not `major.minor`, or later than `LATEST`."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise VersionError(f"not a Kubernetes version: `{text}`, expected for instance `{DEFAULT}`")
    release = int(match[1]), int(match[2])
    if release > LATEST_RELEASE:
        raise VersionError(f"unknown Kubernetes version `{text}`, the latest known is `{LATEST}`")
    return release


def nearest_release(major: int, minor: int) -> str:
    """The release of these numbers, or the first or last one that is known."""
    return "{}.{}".format(*min(max((major, minor), OLDEST_RELEASE), LATEST_RELEASE))


def previous_minor(version: str) -> str:
    """The release that new expressions are compiled for: the one before, if nobody said which is
    the oldest that the current release has to get along with."""
    here = _here.get()
    if here.compatible and version == here.release:
        return here.compatible
    if version == here.release:
        version = here.emulated
    major, minor = parse_version(version)
    return f"{major}.{max(minor - 1, 0)}"


# --- The current release -----------------------------------------------------


class Answering(NamedTuple):
    """The `release` whose answers are given, the one that it emulates (itself as a rule), and the
    oldest that it has to get along with (empty for the one before what it emulates). `key` tells
    apart all for which something else is worked out."""

    release: str
    emulated: str
    compatible: str
    key: str


@functools.cache
def _answering(release: str, emulated: str, compatible: str) -> Answering:
    key = " ".join((release, emulated, compatible)) if emulated or compatible else release
    return Answering(release, emulated or release, compatible, key)


_PLAIN: Final = _answering(DEFAULT, "", "")
_here: Final[ContextVar[Answering]] = ContextVar("celadon_kubernetes_release", default=_PLAIN)


def current_release() -> str:
    """The release whose answers are given here, as `1.36`."""
    return _here.get().release


def emulated_release() -> str:
    """The release whose feature gates and versions of kinds there are: the current one, unless that
    emulates another."""
    return _here.get().emulated


def is_since(minor: str) -> bool:
    """Return whether the current release is that one, or a later one."""
    return parse_version(current_release()) >= parse_version(minor)


def enter_release(version: str, compatible: str = "", emulated: str = "") -> Answering:
    """From now on it is the release of this thread or task, and of tasks that it begins, until it
    leaves with what this gives: the release from before. `compatible` is the oldest one that it has
    to get along with, `emulated` the one that it emulates (kube-apiserver's
    `--min-compatibility-version` and `--emulated-version`). Raises VersionError."""
    parse_version(version)
    before = _here.get()
    _here.set(_answering(version, "" if emulated == version else emulated, compatible))
    return before


def leave_release(before: Answering) -> None:
    """Ends what `enter_release` began; a request may go on in another task by then."""
    _here.set(before)


@contextlib.contextmanager
def answering_as(version: str, compatible: str = "", emulated: str = "") -> Iterator[None]:
    """Inside, it is the current release. Raises VersionError."""
    before = enter_release(version, compatible, emulated)
    try:
        yield
    finally:
        leave_release(before)


def per_release(maxsize: int | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Remembers what a function gives, for each release, and what it emulates and gets along with:
    `functools.lru_cache` for functions that look at facts of the current one."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        caches: dict[str, Callable[P, R]] = {}

        @functools.wraps(function)
        def remembered(*args: P.args, **kwargs: P.kwargs) -> R:
            key = _here.get().key
            cache = caches.get(key)
            if cache is None:
                cache = caches[key] = cast(Callable[P, R], functools.lru_cache(maxsize)(function))
            return cache(*args, **kwargs)

        return remembered

    return decorate

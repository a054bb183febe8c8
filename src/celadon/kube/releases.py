"""The release of Kubernetes whose answers are given here (1.36, unless somebody says otherwise),
and what releases say differently.

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
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

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
    """Parse a version. Raises VersionError for what is not `major.minor`, or later than
    `LATEST`."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise VersionError(f"not a Kubernetes version: `{text}`, expected for instance `{DEFAULT}`")
    release = int(match[1]), int(match[2])
    if release > LATEST_RELEASE:
        raise VersionError(f"unknown Kubernetes version `{text}`, the latest known is `{LATEST}`")
    return release


def nearest_release(major: int, minor: int) -> str:
    """Return the release of these numbers, or the first or last one that is known."""
    return "{}.{}".format(*min(max((major, minor), OLDEST_RELEASE), LATEST_RELEASE))


def previous_minor(version: str) -> str:
    """Return the release that new expressions are compiled for: the one before, if nobody said
    which is the oldest that the current release has to get along with."""
    answering = _here.get()
    if answering.compatible and version == answering.release:
        return answering.compatible
    if version == answering.release:
        version = answering.emulated
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
    """Return the release whose answers are given here, as `1.36`."""
    return _here.get().release


def emulated_release() -> str:
    """Return the release whose feature gates and versions of kinds there are: the current one,
    unless that emulates another."""
    return _here.get().emulated


def is_since(minor: str) -> bool:
    """Return whether the current release is that one, or a later one."""
    return parse_version(current_release()) >= parse_version(minor)


def enter_release(version: str, compatible: str = "", emulated: str = "") -> Answering:
    """Make it the release of this thread or task, and of tasks that it begins, until it leaves with
    what this gives: the release from before. `compatible` is the oldest one that it has to get
    along with, `emulated` the one that it emulates (kube-apiserver's `--min-compatibility-version`
    and `--emulated-version`). Raises VersionError."""
    return enter(answering(version, compatible, emulated))


def answering(version: str, compatible: str = "", emulated: str = "") -> Answering:
    """Return what `enter` takes, for who enters a release often; as `enter_release`. Raises
    VersionError."""
    parse_version(version)
    return _answering(version, "" if emulated == version else emulated, compatible)


def enter(entered: Answering) -> Answering:
    """Enter a release, as `enter_release` does."""
    before = _here.get()
    _here.set(entered)
    return before


def leave_release(before: Answering) -> None:
    """End what `enter_release` began; a request may go on in another task by then."""
    _here.set(before)


@contextlib.contextmanager
def answering_as(version: str, compatible: str = "", emulated: str = "") -> Iterator[None]:
    """Make it the current release inside of a block. Raises VersionError."""
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

        def cache_of(answering: Answering) -> tuple[Answering | None, Callable[P, R]]:
            cache = caches.get(answering.key)
            if cache is None:
                cached = functools.lru_cache(maxsize)(function)
                cache = caches[answering.key] = cast(Callable[P, R], cached)
            return answering, cache

        latest: tuple[Answering | None, Callable[P, R]] = None, function
        """What was asked last is asked next, as a rule: one pair, for there are threads."""

        @functools.wraps(function)
        def remembered(*args: P.args, **kwargs: P.kwargs) -> R:
            nonlocal latest
            answering = _here.get()
            owner, cache = latest
            if owner is not answering:
                latest = _, cache = cache_of(answering)
            return cache(*args, **kwargs)

        return remembered

    return decorate


# --- Wordings ----------------------------------------------------------------
#
# What releases of Kubernetes say differently: texts that changed, and rules that came later.
#
# A `Wording` stands where the text would: its newest form, and before which release it read how.
# `since` stands above a function that tells what is wrong, or remarkable, with an object.


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as the newest release says it. `until` names releases in ascending order, each with
    what was said before it."""

    latest: str
    until: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """Return what the current release says."""
        for release, text in self.until:
            if not is_since(release):
                return text
        return self.latest


def wording(latest: str, **until: str) -> Wording:
    """`wording("must not be empty", v1_34="uid must not be empty")`: the second until 1.34."""
    releases = ((name.removeprefix("v").replace("_", "."), text) for name, text in until.items())
    return Wording(latest, tuple(releases))


def since(release: str) -> Callable[[Callable[P, Iterator[R]]], Callable[P, Iterator[R]]]:
    """Decorate a rule that came in a release: those before find nothing."""

    def decorate(rule: Callable[P, Iterator[R]]) -> Callable[P, Iterator[R]]:
        @functools.wraps(rule)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
            return rule(*args, **kwargs) if is_since(release) else iter(())

        return wrapped

    return decorate


def until(release: str) -> Callable[[Callable[P, Iterator[R]]], Callable[P, Iterator[R]]]:
    """Decorate a rule that went with a release: that one and those after it find nothing."""

    def decorate(rule: Callable[P, Iterator[R]]) -> Callable[P, Iterator[R]]:
        @functools.wraps(rule)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
            return iter(()) if is_since(release) else rule(*args, **kwargs)

        return wrapped

    return decorate


UNIT_OF_NAMES: Final = wording("bytes", v1_35="characters")
"""What the lengths of labels and their keys are counted in, in texts."""

MESSAGE_BLANK: Final = wording(
    "must be non-empty if specified", v1_34="message must be non-empty if specified"
)
MESSAGE_BROKEN: Final = wording(
    "must not contain line breaks", v1_34="message must not contain line breaks"
)
"""What is wrong with the message of a rule."""

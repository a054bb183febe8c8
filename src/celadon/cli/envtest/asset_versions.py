"""Versions as `setup-envtest` understands them: `1.33`, `1.33.x`, `~1.33.2`, `<1.34`, `latest`.

A version of Celadon's assets is that of a release with any patch number: what is served is the
release, and a suite that asks for 1.33.4 gets a folder of that name. As
sigs.k8s.io/controller-runtime `tools/setup-envtest/versions`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from celadon.cli.options import DEFAULT_VERSION, VERSIONS
from celadon.patterns import late_pattern
from celadon.records import dataclass

RELEASES: Final = VERSIONS[: VERSIONS.index(DEFAULT_VERSION) + 1]
"""Those that can be served, oldest first."""

LATEST: Final = "latest"
LATEST_ON_DISK: Final = "latest-on-disk"

_SELECTOR: Final = late_pattern(
    r"(?P<compare><=|<|~)?v?(?P<major>0|[1-9]\d*)\.(?P<minor>0|[1-9]\d*)"
    r"(?:\.(?P<patch>0|[1-9]\d*|x|\*))?(?P<newest>!)?"
)


class VersionUnknown(Exception):
    """Says why there are no assets of a version."""


class AssetVersion(NamedTuple):
    """Versions compare by their numbers."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def release(self) -> str:
        """`1.33` of 1.33.4."""
        return f"{self.major}.{self.minor}"


@dataclass(frozen=True, slots=True)
class VersionSelector:
    """Which versions are meant. `compare` is empty, `<`, `<=` or `~`; without numbers all versions
    are. `patch` is None for a wildcard; `newest` asks for the newest there is, not for the newest
    that is installed."""

    text: str
    compare: str = ""
    numbers: tuple[int, int] | None = None
    patch: int | None = None
    newest: bool = False
    only_installed: bool = False

    def matches(self, version: AssetVersion) -> bool:
        """Whether a version is meant."""
        if self.numbers is None:
            return True
        numbers = version[:2]
        if self.compare in ("<", "<="):
            if numbers != self.numbers:
                return numbers < self.numbers
            if self.patch is None or self.patch == version.patch:
                return self.compare == "<="
            return version.patch < self.patch
        if numbers != self.numbers:
            return False
        if self.compare == "~":
            return version.patch >= (self.patch or 0)
        return self.patch is None or self.patch == version.patch

    @property
    def exact(self) -> AssetVersion | None:
        """The one version that is meant, if it is one."""
        if self.numbers is None or self.patch is None or self.compare:
            return None
        return AssetVersion(*self.numbers, self.patch)


def parse_selector(text: str) -> VersionSelector:
    """An empty text means the latest version. Raises VersionUnknown."""
    if text in ("", LATEST):
        return VersionSelector(text or LATEST, newest=True)
    if text == LATEST_ON_DISK:
        return VersionSelector(text, only_installed=True)
    match = _SELECTOR.fullmatch(text)
    if match is None:
        raise VersionUnknown(
            f"`{text}` is not a version: 1.33, 1.33.x, 1.33.4, ~1.33.4, <1.34, "
            f"{LATEST} or {LATEST_ON_DISK}, the numbers with a `!` behind them or not"
        )
    patch = match["patch"]
    return VersionSelector(
        text,
        match["compare"] or "",
        (int(match["major"]), int(match["minor"])),
        int(patch) if patch and patch.isdigit() else None,
        newest=match["newest"] is not None,
    )


def available_versions(selector: VersionSelector) -> list[AssetVersion]:
    """One version of each release that is meant, newest first."""
    if selector.exact is not None or selector.compare == "~":
        major, minor = selector.numbers or (0, 0)
        wanted = [AssetVersion(major, minor, selector.patch or 0)]
    else:
        numbers = [release.split(".") for release in RELEASES]
        wanted = [AssetVersion(int(major), int(minor), 0) for major, minor in numbers]
    return [one for one in reversed(wanted) if one.release in RELEASES and selector.matches(one)]


def version_to_use(
    selector: VersionSelector, installed: Iterable[AssetVersion], *, only_installed: bool
) -> AssetVersion:
    """The newest one that is meant, of those that are installed if there is one and nothing newer
    is asked for. Raises VersionUnknown."""
    there = [one for one in installed if selector.matches(one)]
    if only_installed or selector.only_installed:
        if not there:
            raise VersionUnknown(f"no assets of `{selector.text}` are installed (see `list -i`)")
        return max(there)
    if there and not selector.newest:
        return max(there)
    candidates = [*there, *available_versions(selector)]
    if not candidates:
        raise VersionUnknown(
            f"`{selector.text}` is none of the releases {RELEASES[0]} to {RELEASES[-1]}"
        )
    return max(candidates)

"""Which recordings there are, and which need a server of their own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from celadon.kube.releases import parse_version
from tests.paths import shared_folder

SPARSER: Final = 8
"""So much fewer scenarios of another release than of the usual one are among the tests."""

USUAL: Final = "1.36"
"""The release whose answers `conformance/` has."""

ALL_VERSIONS: Final = "api/all"
"""What a scenario needs that was recorded with `--runtime-config api/all=true`."""

UNSAID: Final = frozenset({"policy/match-policy-lease-candidates"})
"""Scenarios about a version that is off by default, which do not say that they need it."""

SAMPLE: Final = 24
"""Of so many scenarios of a group `make test` replays one, from `Group.quick` on."""


@dataclass(frozen=True, slots=True)
class Group:
    """A folder of recordings. `jobs` is how many scenarios may run side by side: those that share
    names or namespaces with others may not. `has_hooks` is whether its scenarios call
    webhooks, `lengthy` how the names of those begin that mostly wait, which tests leave out.
    Of each `sampled` of them, by name, tests replay the first; `make conformance` replays all.
    `quick` is where the sample of `make test` begins: the first watch waits for seven seconds.
    `release` is the one that answered, empty for the usual one."""

    name: str
    jobs: int = 1
    has_hooks: bool = False
    lengthy: tuple[str, ...] = ()
    sampled: int = 1
    quick: int = 0
    parent: str = "conformance"
    release: str = ""

    @property
    def folder(self) -> Path:
        return shared_folder() / self.parent / self.name

    @property
    def label(self) -> str:
        """The name, after the release if it is not the usual one."""
        return f"{self.release}/{self.name}" if self.release else self.name

    @property
    def gates(self) -> Mapping[str, bool]:
        """What was on of the gates that were off by default: a release before 1.36 has no policies
        that mutate without."""
        return {"MutatingAdmissionPolicy": True} if self.release and self.name == "mutating" else {}


GROUPS: Final = (
    Group("policy", jobs=4),
    Group("api"),
    Group("defaulting"),
    Group("watch", jobs=16, quick=8),
    Group("apply", jobs=4),
    Group("tables", jobs=4),
    Group("clients", jobs=16),
    Group("mutating", jobs=4),
    Group("fuzz/api"),
    Group("fuzz/policy"),
    Group("fuzz/objects", sampled=4),
    Group("fuzz/crd", sampled=4),
    Group("fuzz/patches", sampled=8),
    Group("real", jobs=8, sampled=32, parent=""),
    Group("webhook", has_hooks=True, lengthy=("timeout-", "answer-retr", "failure-timeout")),
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """`number` is its place among those of its group."""

    group: Group
    path: Path
    number: int = 0

    @property
    def name(self) -> str:
        return f"{self.group.label}/{self.path.stem}"

    @property
    def is_lengthy(self) -> bool:
        return self.path.stem.startswith(self.group.lengthy)

    @property
    def is_tested(self) -> bool:
        """Do the tests replay it, or only `make conformance`?"""
        return self.number % self.group.sampled == 0 and not self.is_lengthy

    @property
    def is_quickly_tested(self) -> bool:
        """Does `make test` replay it, too? Of an older release, few."""
        rarely = SPARSER if self.group.release else 1
        return self.is_tested and self.number % (SAMPLE * rarely) == self.group.quick

    @property
    def needs(self) -> tuple[str, ...]:
        """How the recording server was set up, where that matters."""
        return needs_of(self.path)

    @property
    def needs_all_versions(self) -> bool:
        """Recordings of other releases were all made with every version."""
        return ALL_VERSIONS in self.needs or bool(self.group.release)


def recorded_releases() -> list[str]:
    """Releases beside the usual one that there are recordings of, the oldest first."""
    folders = (shared_folder() / "releases").glob("*/conformance")
    return sorted((folder.parent.name for folder in folders), key=parse_version)


def groups_of(release: str) -> list[Group]:
    """The groups that were recorded of that release; not all of them were, of each."""
    if release == USUAL:
        return list(GROUPS)
    parent = f"releases/{release}/conformance"
    groups = (
        replace(group, parent=parent, release=release, sampled=group.sampled * SPARSER)
        for group in GROUPS
    )
    return [group for group in groups if any(group.folder.glob("*.json"))]


def scenarios(groups: Iterable[Group] = GROUPS) -> list[Scenario]:
    """Those of some groups, in the order of their names; none where there are no recordings."""
    return [
        Scenario(group, path, number)
        for group in groups
        for number, path in enumerate(sorted(group.folder.glob("*.json")))
    ]


def every_group() -> list[Group]:
    """Those of all releases, the usual one last."""
    others = (group for minor in recorded_releases() for group in groups_of(minor))
    return [*others, *GROUPS]


def every_scenario() -> list[Scenario]:
    """Those of all releases; none where there are no recordings."""
    return scenarios(every_group())


@cache
def needs_of(path: Path) -> tuple[str, ...]:
    """How the server of a scenario has to be set up."""
    needs = tuple(json.loads(path.read_text()).get("needs", ()))
    return (*needs, ALL_VERSIONS) if f"{path.parent.name}/{path.stem}" in UNSAID else needs
